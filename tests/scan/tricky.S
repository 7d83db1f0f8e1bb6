/* SPDX-License-Identifier: GPL-2.0-only */
/* x86-64 code that byte searches and linear sweeps get wrong. tests/scan.sh knows what is in it. */
	.text
	.globl inside, data_between, swt, overlap, cold_jump, delay, spin, callspin, prefixed
	.type inside,@function
inside:
	.byte 0xf3,0x0f,0x1f,0x90,0x90,0x90,0x90,0x90	# rep nop with modrm
	mov $0x90f390f3,%eax
	movabs $0x90f390f390f390f3,%rax
	endbr64
	lea 0x90f3(%rax),%rax
	.byte 0xf3,0x0f,0x1e,0xfa
	.byte 0xf3,0x41,0x90	# xchg r8d,eax
	ret
	.size inside,.-inside
	.type data_between,@function
data_between:
	jmp 1f
	.byte 0xf3,0x90,0xf3,0x90,0xf3,0xf3,0x90,0xb8
1:	pause
	ret
	.size data_between,.-data_between
	.type swt,@function
swt:	cmp $3,%edi
	ja 9f
	lea tbl(%rip),%rax
	movslq (%rax,%rdi,4),%rdi
	add %rax,%rdi
	jmp *%rdi
2:	pause
	jmp 9f
3:	rep; pause
	ret
9:	ret
	.size swt,.-swt
	.type overlap,@function
overlap:
	cmpl $0,%fs:0x18
	je 1f
	lock
1:	cmpxchg %ecx,(%rdi)
	jne overlap
	pause
	ret
	.size overlap,.-overlap
	.type cold_jump,@function
cold_jump:
	test %edi,%edi
	jne 5f
4:	mov (%rsi),%eax
	ret
5:	pause
	jmp 4b
	.size cold_jump,.-cold_jump
	.type delay,@function
delay:
0:	mov (%rdi),%eax
	test %eax,%eax
	jne 3f
	mov $10,%ecx
1:	pause
	dec %ecx
	jnz 1b
	jmp 0b
3:	ret
	.size delay,.-delay
	.type spin,@function
spin:
1:	pause
	cmpl $0,(%rdi)
	jne 1b
	ret
	.size spin,.-spin
	.type callspin,@function
callspin:
1:	pause
	call inside
	test %eax,%eax
	jne 1b
	ret
	.size callspin,.-callspin
	.type prefixed,@function
prefixed:
	.byte 0xf3,0x66,0x90, 0xf3,0x48,0x90, 0x66,0xf3,0x90, 0x2e,0xf3,0x90, 0xf3,0xf3,0xf3,0x90, 0xf2,0xf3,0x90, 0xf3,0xf2,0x90
	.byte 0x66,0x0f,0xae,0xf1, 0xf2,0x0f,0xae,0xf1, 0xf3,0x0f,0xae,0xf0, 0x0f,0xae,0xf0, 0x0f,0x01,0xfa, 0x0f,0x01,0xfb, 0x0f,0x01,0xe8
1:	.byte 0x0f,0x01,0xe8
	cmpl $0,(%rdi)
	jne 1b
	ret
	.size prefixed,.-prefixed
	# data after the last function, no symbol
	.p2align 4
	.byte 0x06,0x07,0xf3,0x90,0x0e,0x27
	.type table,@object
table:	.byte 0xf3,0x90,0xf3,0x90
	.size table,.-table
	.section .rodata
tbl:	.long 2b-tbl,3b-tbl,9b-tbl,9b-tbl
