/* void emu_switch(void **save, void *load): keeps this fiber's registers on its stack and its stack
 * pointer in *save, and goes on where `load` was kept. Other processors have ucontext. */
#ifdef __x86_64__
    .text
    .globl emu_switch
    .hidden emu_switch
    .type emu_switch, @function
emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emu_switch, . - emu_switch
#endif
    .section .note.GNU-stack, "", @progbits
