/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One function for each hint of a machine, and loops of known kinds: compiled by tests/scan-cross.sh for each of them,
 * which knows the counts. Without a C library.
 */
#if defined(__x86_64__) || defined(__i386__)
#define HINT "pause"
#define MORE(X) X(rep_pause, "rep; pause") X(tpause, ".byte 0x66,0x0f,0xae,0xf1")
#define BYTES ".byte 0xf3,0x90,0xf3,0x90"
#elif defined(__aarch64__)
#define HINT "yield"
#define MORE(X) X(wfe, "wfe") X(isb, "isb") X(dmb, "dmb ish")
#define BYTES ".inst 0xd503203f"
#elif defined(__arm__)
#define HINT "yield"
#define MORE(X) X(wfe, "wfe")
#define BYTES ".byte 0x10,0xbf,0x10,0xbf"
#elif defined(__powerpc__)
#define HINT "or 27,27,27"
#define MORE(X) X(or_1, "or 1,1,1") X(or_31, "or 31,31,31") X(no_hint, "or 4,3,3")
#define BYTES ".long 0x7f7bdb78"
#elif defined(__riscv)
#define HINT ".insn i 0x0f, 0, x0, x0, 0x010"
#define MORE(X) X(fence_i, "fence.i") X(fence, "fence w,w") X(not_x0, ".insn i 0x0f, 0, x1, x0, 0x010")
#define BYTES ".word 0x0100000f"
#elif defined(__s390x__)
#define HINT "diag 0,0,0x44"
#define MORE(X) X(nopr, "nopr %r7")
#define BYTES ".long 0x83000044"
#elif defined(__mips__)
#define HINT ".word 0x140"
#define MORE(X) X(ssnop, "ssnop")
#define BYTES ".word 0x140"
#elif defined(__sparc__)
#define HINT ".word 0xb7802080"
#define MORE(X) X(rd_ccr, "rd %ccr, %g0")
#define BYTES ".word 0xb7802080"
#else
#error "no hints known for this machine"
#endif

#define USED __attribute__((noinline, used))
#define FUNCTION(name, text) USED void once_##name(void) { __asm__ volatile(text); }
FUNCTION(hint, HINT)
MORE(FUNCTION)

/* A spin-wait: the loop reads memory. */
USED void spin(volatile int *p)
{
	while (*p)
		__asm__ volatile(HINT);
}

/* A delay: it reads none. */
USED void delay(int n)
{
	do
		__asm__ volatile(HINT : "+r"(n));
	while (--n);
}

#define LOOP(name, text) USED void loop_##name(volatile int *p) { while (*p) __asm__ volatile(text); }
MORE(LOOP)

/* A hint's bytes as data between code. */
USED int data_inside(void);
__asm__(".text\n\t.balign 8\n\t.type hint_data,%object\nhint_data:\t" BYTES
	"\n\t.balign 8\n\t.size hint_data,.-hint_data");

void _start(void);
void _start(void)
{
	for (;;)
		__asm__ volatile("");
}
