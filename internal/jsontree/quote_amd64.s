#include "textflag.h"

// func quoteBlocks(to *byte, room int, from *byte, n int) (read, written int)
//
// With what every amd64 has (SSE2), 32 bytes at a time.
TEXT ·quoteBlocks(SB), NOSPLIT, $0-48
	MOVQ to+0(FP), DI
	MOVQ room+8(FP), R11
	MOVQ from+16(FP), SI
	MOVQ n+24(FP), CX
	XORQ DX, DX // read
	XORQ BX, BX // written
	MOVQ $0x2222222222222222, AX
	MOVQ AX, X8 // "
	PUNPCKLQDQ X8, X8
	MOVQ $0x5c5c5c5c5c5c5c5c, AX
	MOVQ AX, X9 // \
	PUNPCKLQDQ X9, X9
	MOVQ $0x1f1f1f1f1f1f1f1f, AX
	MOVQ AX, X10 // the last control character
	PUNPCKLQDQ X10, X10

loop:
	LEAQ 32(DX), R8
	CMPQ R8, CX
	JGT  done
	LEAQ 33(BX), R9 // an escape after the 31st byte has two
	CMPQ R9, R11
	JGT  done
	MOVOU 0(SI)(DX*1), X0
	MOVOU 16(SI)(DX*1), X1
	MOVOU X0, 0(DI)(BX*1)
	MOVOU X1, 16(DI)(BX*1)
	MOVOU X0, X2
	MOVOU X1, X3
	PMINUB X10, X2
	PMINUB X10, X3
	PCMPEQB X0, X2
	PCMPEQB X1, X3
	MOVOU X0, X4
	MOVOU X1, X5
	PCMPEQB X8, X4
	PCMPEQB X8, X5
	POR X4, X2
	POR X5, X3
	PCMPEQB X9, X0
	PCMPEQB X9, X1
	POR X0, X2
	POR X1, X3
	PMOVMSKB X2, R9
	PMOVMSKB X3, R10
	SHLL $16, R10
	ORL  R10, R9
	JNZ  found
	MOVQ R8, DX
	ADDQ $32, BX
	JMP  loop

found:
	BSFL R9, R9
	ADDQ R9, DX
	ADDQ R9, BX
	MOVBLZX 0(SI)(DX*1), R9
	CMPL R9, $0x22 // "
	JEQ  escape
	CMPL R9, $0x5c // \
	JEQ  escape
	CMPL R9, $0x0a
	JNE  done
	MOVL $0x6e, R9 // n

escape:
	MOVB $0x5c, 0(DI)(BX*1)
	MOVB R9, 1(DI)(BX*1)
	INCQ DX
	ADDQ $2, BX
	JMP  loop

done:
	MOVQ DX, read+32(FP)
	MOVQ BX, written+40(FP)
	RET
