#include "textflag.h"

// func unescapeBlocks(to, from *byte, n int) (read, written int)
//
// With what every amd64 has (SSE2), 32 bytes at a time.
TEXT ·unescapeBlocks(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), DI
	MOVQ from+8(FP), SI
	MOVQ n+16(FP), CX
	XORQ DX, DX // read
	XORQ BX, BX // written, never more than read
	MOVQ $0x5c5c5c5c5c5c5c5c, AX
	MOVQ AX, X9 // \
	PUNPCKLQDQ X9, X9

loop:
	LEAQ 32(DX), R8
	CMPQ R8, CX
	JGT  done
	MOVOU 0(SI)(DX*1), X0
	MOVOU 16(SI)(DX*1), X1
	MOVOU X0, 0(DI)(BX*1)
	MOVOU X1, 16(DI)(BX*1)
	PCMPEQB X9, X0
	PCMPEQB X9, X1
	PMOVMSKB X0, R9
	PMOVMSKB X1, R10
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
	LEAQ 1(DX), R8
	CMPQ R8, CX
	JGE  done
	MOVBLZX 1(SI)(DX*1), R9
	MOVL $0x0a, R10
	CMPL R9, $0x6e // n
	JEQ  write
	MOVL R9, R10
	CMPL R9, $0x22 // "
	JEQ  write
	CMPL R9, $0x5c // \
	JNE  done

write:
	MOVB R10, 0(DI)(BX*1)
	INCQ BX
	ADDQ $2, DX
	JMP  loop

done:
	MOVQ DX, read+24(FP)
	MOVQ BX, written+32(FP)
	RET
