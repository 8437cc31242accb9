#include "textflag.h"

// func literalBlocks(p *byte, n int, escapes bool) (size int, wide uint32)
//
// With what every amd64 has (SSE2), 32 bytes at a time.
TEXT ·literalBlocks(SB), NOSPLIT, $0-36
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	MOVBLZX escapes+16(FP), DI
	XORQ DX, DX
	XORQ BX, BX // is not 0 once a byte before an escape is not ASCII
	PXOR X7, X7 // all bytes of the blocks without escapes, by OR
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
	MOVOU 0(SI)(DX*1), X0
	MOVOU 16(SI)(DX*1), X1
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
	MOVOU X0, X4
	MOVOU X1, X5
	PCMPEQB X9, X4
	PCMPEQB X9, X5
	POR X4, X2
	POR X5, X3
	MOVOU X2, X6
	POR X3, X6
	PMOVMSKB X6, R9
	TESTL R9, R9
	JNZ  found
	POR X0, X7
	POR X1, X7
	MOVQ R8, DX
	JMP  loop

found:
	PMOVMSKB X2, R9
	PMOVMSKB X3, R10
	SHLL $16, R10
	ORL  R10, R9
	PMOVMSKB X0, R11
	PMOVMSKB X1, R12
	SHLL $16, R12
	ORL  R12, R11 // which of the 32 are not ASCII
	BSFL R9, R10
	ADDQ R10, DX
	MOVL R9, R13
	NEGL R13
	ANDL R9, R13
	DECL R13 // the bits before the first
	ANDL R13, R11
	ORL  R11, BX
	TESTL DI, DI
	JEQ  done
	MOVBLZX 0(SI)(DX*1), R12
	CMPL R12, $0x5c // \
	JNE  done
	LEAQ 1(DX), R8
	CMPQ R8, CX
	JGE  done
	MOVBLZX 1(SI)(DX*1), R12
	CMPL R12, $0x6e // n
	JEQ  escape
	CMPL R12, $0x22 // "
	JEQ  escape
	CMPL R12, $0x5c // \
	JEQ  escape
	CMPL R12, $0x74 // t
	JEQ  escape
	CMPL R12, $0x72 // r
	JEQ  escape
	CMPL R12, $0x2f // /
	JEQ  escape
	CMPL R12, $0x62 // b
	JEQ  escape
	CMPL R12, $0x66 // f
	JNE  done

escape:
	ADDQ $2, DX
	JMP  loop

done:
	PMOVMSKB X7, AX
	ORL  BX, AX
	MOVQ DX, size+24(FP)
	MOVL AX, wide+32(FP)
	RET
