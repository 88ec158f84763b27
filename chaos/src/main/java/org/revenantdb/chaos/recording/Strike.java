package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.nio.file.FileSystemException;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FileOperation;

/**
 * What goes wrong with one operation. Does the part that is the same for all of them; what changes
 * bytes or forces, and what an interrupt does to a channel, is the channel's.
 *
 * @param fault as decided
 * @param kind of the operation
 * @param path of the operation
 */
record Strike(Fault fault, FileOperation.Kind kind, String path) {

  /** As of a process that was killed by signal 9, seen by a shell. */
  private static final int KILLED = 128 + 9;

  static final Strike NONE = new Strike(Fault.NONE, FileOperation.Kind.OPEN, "");

  /**
   * What comes before the operation.
   *
   * @return this
   * @throws IOException if the operation fails and must not be carried out
   */
  Strike before() throws IOException {
    switch (fault) {
      case Fault.Fail fail -> throw new IOException(fail.message());
      case Fault.CutOff cut when kind != FileOperation.Kind.WRITE ->
          throw new IOException(cut.message());
      case Fault.DiskFull() -> refuseForRoom();
      case Fault.FailForce(boolean _) when kind == FileOperation.Kind.FORCE ->
          throw new IOException("Input/output error");
      case Fault.Throw(boolean outOfMemory) -> {
        throw outOfMemory
            ? new OutOfMemoryError("injected before " + kind + " of " + path)
            : new StackOverflowError("injected before " + kind + " of " + path);
      }
      case Fault.Interrupt() -> Thread.currentThread().interrupt();
      case Fault.Die(boolean after) when !after -> die();
      default -> {
        // The rest concerns bytes, or what comes after, or makes no sense here.
      }
    }
    return this;
  }

  /** What comes after the operation, if it succeeded. */
  void after() {
    if (fault instanceof Fault.Die) {
      die();
    }
  }

  boolean interrupts() {
    return fault instanceof Fault.Interrupt;
  }

  /** As the JDK says it: without the path for a channel, with it for a name. */
  private void refuseForRoom() throws IOException {
    switch (kind) {
      case WRITE -> throw new IOException("No space left on device");
      case CREATE, RENAME -> throw new FileSystemException(path, null, "No space left on device");
      default -> {
        // Needs no room.
      }
    }
  }

  /** No hook runs and nothing is flushed. (A process is not allowed to kill itself by handle.) */
  private static void die() {
    Runtime.getRuntime().halt(KILLED);
  }
}
