package org.revenantdb.chaos.fault;

/**
 * The fault model: what can happen to one operation.
 *
 * <p><b>Reported to the program</b> (which must then lose nothing that it acknowledged): {@link
 * Fail}, {@link DiskFull}, {@link ShortWrite}, {@link FailForce}, {@link Throw}, {@link Interrupt}.
 * <b>Not reported</b> (the program must detect the damage, but need not repair it): {@link
 * FlipBit}, {@link Misdirect}, {@link StaleRead}, {@link LoseWrite}. <b>The end of the process</b>:
 * {@link CutOff}, {@link Die}.
 */
public sealed interface Fault {

  /** No fault. */
  record None() implements Fault {}

  /**
   * The operation fails and changes nothing (EIO).
   *
   * @param message of the {@code IOException}
   */
  record Fail(String message) implements Fault {}

  /** The operation fails because there is no space (ENOSPC): a write, a creation, a growth. */
  record DiskFull() implements Fault {}

  /**
   * A write writes only its first bytes and returns their number.
   *
   * @param bytes how many, less than asked for, 1 or more
   */
  record ShortWrite(int bytes) implements Fault {}

  /**
   * A force fails.
   *
   * @param clean whether the system then marks the pages as clean, so that a second force succeeds
   *     without writing them (reported once, lost for good); otherwise they stay dirty
   */
  record FailForce(boolean clean) implements Fault {}

  /**
   * The operation throws an error of the virtual machine before it changes anything.
   *
   * @param outOfMemory true for an {@link OutOfMemoryError}, false for a {@link StackOverflowError}
   */
  record Throw(boolean outOfMemory) implements Fault {}

  /**
   * The thread is interrupted as the operation begins, which closes an interruptible channel for
   * all its users.
   */
  record Interrupt() implements Fault {}

  /**
   * One bit of the bytes is wrong: for a read only in the result, for a write on the disk.
   *
   * @param bit counted from the first byte of the operation
   */
  record FlipBit(long bit) implements Fault {}

  /**
   * A write goes to another place of the file.
   *
   * @param distance added to the offset; the sum is not negative
   */
  record Misdirect(long distance) implements Fault {}

  /** A read returns the bytes before the last write. */
  record StaleRead() implements Fault {}

  /** A write reports success and changes nothing. */
  record LoseWrite() implements Fault {}

  /**
   * A write writes only its first bytes and fails, as when its process is killed in the middle. For
   * any other operation the same as {@link Fail}.
   *
   * @param bytes how many, less than asked for, 1 or more
   * @param message of the {@code IOException}
   */
  record CutOff(int bytes, String message) implements Fault {}

  /**
   * The process ends at once, as if killed with SIGKILL.
   *
   * @param after true: after the operation was carried out; false: before
   */
  record Die(boolean after) implements Fault {}

  /** No fault. */
  Fault NONE = new None();
}
