#include "textflag.h"

// func indexPair(a, b *byte, n int, want, fold *[2]uint64) int
//
// With what every amd64 has (SSE2), 32 places at a time.
TEXT ·indexPair(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ want+24(FP), AX
	MOVQ fold+32(FP), BX
	MOVQ 0(AX), X0
	MOVQ 8(AX), X1
	MOVQ 0(BX), X2
	MOVQ 8(BX), X3
	PUNPCKLQDQ X0, X0
	PUNPCKLQDQ X1, X1
	PUNPCKLQDQ X2, X2
	PUNPCKLQDQ X3, X3
	XORQ DX, DX

loop:
	LEAQ 32(DX), R8
	CMPQ R8, CX
	JGT  done
	PREFETCHT0 2048(SI)(DX*1) // or it stops at the end of each page
	MOVOU 0(SI)(DX*1), X4
	MOVOU 0(DI)(DX*1), X5
	MOVOU 16(SI)(DX*1), X6
	MOVOU 16(DI)(DX*1), X7
	POR  X2, X4
	POR  X3, X5
	POR  X2, X6
	POR  X3, X7
	PCMPEQB X0, X4
	PCMPEQB X1, X5
	PCMPEQB X0, X6
	PCMPEQB X1, X7
	PAND X5, X4
	PAND X7, X6
	PMOVMSKB X4, R9
	PMOVMSKB X6, R10
	SHLL $16, R10
	ORL  R10, R9
	JNZ  found
	MOVQ R8, DX
	JMP  loop

found:
	BSFL R9, R9
	ADDQ R9, DX

done:
	MOVQ DX, ret+40(FP)
	RET
