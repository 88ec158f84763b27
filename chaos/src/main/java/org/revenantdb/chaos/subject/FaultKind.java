package org.revenantdb.chaos.subject;

/**
 * The ready catalogue of faults: what an operating system reports to a store when a device, its
 * space or the process's memory fails, and the errors of the virtual machine.
 *
 * <p>Each fault strikes one operation of a life, or one place in the code. Whatever the store does
 * then, nothing that it acknowledged may be lost, the store must open afterwards, and it must work.
 */
public enum FaultKind {
  /** A write fails and changes nothing (EIO). */
  WRITE_FAILS("a write fails"),
  /**
   * The disk is full. From one operation on, every write that needs more space and every creation
   * fail (ENOSPC). With {@link FileAccess#ANY} the allocation of space fails, too.
   */
  DISK_FULL("the disk is full"),
  /** A write writes only its first half and returns that number; of direct I/O, whole blocks. */
  SHORT_WRITE("a short write"),
  /** A force fails (EIO). The bytes stay in the cache, and a later force writes them. */
  FORCE_FAILS("a force fails"),
  /**
   * A force fails (EIO), and the system forgets that the bytes were never written. A later force
   * succeeds without writing them, as on Linux. A store that only tries again loses them.
   */
  FORCE_FAILS_CLEAN("a force fails, its pages clean"),
  /**
   * A file or directory cannot be opened (EIO). With {@link FileAccess#ANY} C's {@code opendir},
   * which {@link java.io.File#list()} calls, fails with EMFILE.
   */
  OPEN_FAILS("an opening fails"),
  /** A file, a directory or a link cannot be created (EIO). */
  CREATE_FAILS("a creation fails"),
  /** A file cannot be given another size (EIO). */
  TRUNCATE_FAILS("a truncation fails"),
  /** A rename fails (EIO). */
  RENAME_FAILS("a rename fails"),
  /** A deletion fails (EIO). */
  DELETE_FAILS("a deletion fails"),
  /** A read fails (EIO). Only with {@link FileAccess#PATH}. */
  READ_FAILS("a read fails"),
  /**
   * A read, a write or a force throws an {@link OutOfMemoryError} before it changes anything. Only
   * with {@link FileAccess#PATH}.
   */
  OUT_OF_MEMORY("memory is exhausted"),
  /**
   * A read, a write or a force throws a {@link StackOverflowError} before it changes anything. Only
   * with {@link FileAccess#PATH}.
   */
  STACK_OVERFLOW("the stack is exhausted"),
  /**
   * The thread is interrupted as a write or a force begins, which closes an interruptible channel
   * for all its users. Only with {@link FileAccess#PATH}.
   */
  INTERRUPT("an interrupt"),
  /**
   * An allocation in the code of the store throws an {@link OutOfMemoryError}. Needs {@code
   * errorsIn}.
   */
  ALLOCATION_FAILS("an allocation fails"),
  /**
   * From one allocation in the code of the store on, all of them throw an {@link OutOfMemoryError},
   * in all threads, up to 64 times. Needs {@code errorsIn}.
   */
  HEAP_FULL("the heap is full"),
  /**
   * A call in the code of the store throws a {@link StackOverflowError} before its first
   * instruction, in half of the lives also the calls of that thread that are as deep. Needs {@code
   * errorsIn}.
   */
  CALL_OVERFLOWS("a call overflows the stack");

  private final String title;

  FaultKind(String title) {
    this.title = title;
  }

  /**
   * Returns whether the fault strikes a place in the code of the store, and not an operation on a
   * file.
   *
   * @return true if it needs {@code errorsIn}
   */
  public boolean isInCode() {
    return this == ALLOCATION_FAILS || this == HEAP_FULL || this == CALL_OVERFLOWS;
  }

  /**
   * Returns the fault in words.
   *
   * @return without the operation that it strikes
   */
  public String title() {
    return title;
  }
}
