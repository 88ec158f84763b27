package org.revenantdb.chaos.fault;

/**
 * What goes wrong with one operation: the fault model.
 *
 * <p><b>Told to the program</b> (it is owed nothing acknowledged being lost): {@link Fail}, {@link
 * DiskFull}, {@link ShortWrite}, {@link FailForce}, {@link Throw}, {@link Interrupt}. <b>Kept from
 * it</b> (it is owed that damage is found, not that it is mended): {@link FlipBit}, {@link
 * Misdirect}, {@link StaleRead}, {@link LoseWrite}. <b>The end</b>: {@link CutOff}, {@link Die}.
 */
public sealed interface Fault {

  /** Nothing goes wrong. */
  record None() implements Fault {}

  /**
   * The operation fails and changes nothing (EIO).
   *
   * @param message of the {@code IOException}
   */
  record Fail(String message) implements Fault {}

  /** The operation fails because there is no room (ENOSPC): a write, a creation, a growth. */
  record DiskFull() implements Fault {}

  /**
   * A write writes only its first bytes, and says so by its result.
   *
   * @param bytes how many, less than asked for, 1 or more
   */
  record ShortWrite(int bytes) implements Fault {}

  /**
   * A force fails.
   *
   * @param clean whether the pages are taken for clean then, so that a second force succeeds
   *     without writing them (reported once, lost for ever); else they stay dirty
   */
  record FailForce(boolean clean) implements Fault {}

  /**
   * The operation throws an error of the virtual machine, before it changed anything.
   *
   * @param outOfMemory an {@link OutOfMemoryError}, else a {@link StackOverflowError}
   */
  record Throw(boolean outOfMemory) implements Fault {}

  /**
   * The thread is interrupted as it begins: an interruptible channel is closed under everybody's
   * feet.
   */
  record Interrupt() implements Fault {}

  /**
   * One bit of the bytes is wrong: of a read only in what is returned, of a write for good.
   *
   * @param bit counted from the first byte of the operation
   */
  record FlipBit(long bit) implements Fault {}

  /**
   * A write goes to another place of the file.
   *
   * @param distance added to the offset; the place is not negative
   */
  record Misdirect(long distance) implements Fault {}

  /** A read returns what was there before the last write of these bytes. */
  record StaleRead() implements Fault {}

  /** A write says that it was made and changes nothing. */
  record LoseWrite() implements Fault {}

  /**
   * A write writes only its first bytes and fails: what is left of it where its process is killed
   * in the middle. {@link Fail} of any other operation.
   *
   * @param bytes how many, less than asked for, 1 or more
   * @param message of the {@code IOException}
   */
  record CutOff(int bytes, String message) implements Fault {}

  /**
   * The process ends at once, as if killed with SIGKILL.
   *
   * @param after after the operation was carried out, else before
   */
  record Die(boolean after) implements Fault {}

  /** Nothing goes wrong. */
  Fault NONE = new None();
}
