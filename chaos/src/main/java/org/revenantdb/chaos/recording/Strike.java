package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.nio.file.FileSystemException;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FileOperation;

/**
 * The fault of one operation. This class carries out the part that is common to all operations. The
 * channel carries out faults that change bytes or forces, and the effect of an interrupt.
 *
 * @param fault chosen by the injector
 * @param kind of the operation
 * @param path of the operation
 */
record Strike(Fault fault, FileOperation.Kind kind, String path) {

  /** The exit code that a shell reports for a process killed by signal 9. */
  private static final int KILLED = 128 + 9;

  static final Strike NONE = new Strike(Fault.NONE, FileOperation.Kind.OPEN, "");

  /**
   * Carries out a fault that takes effect before the operation.
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
        // The other faults concern bytes, or take effect later, or make no sense here.
      }
    }
    return this;
  }

  /** Carries out a fault that takes effect after an operation that succeeded. */
  void after() {
    if (fault instanceof Fault.Die) {
      die();
    }
  }

  boolean interrupts() {
    return fault instanceof Fault.Interrupt;
  }

  /** The exceptions of the JDK: without the path for a channel, with it for a name. */
  private void refuseForRoom() throws IOException {
    switch (kind) {
      case WRITE -> throw new IOException("No space left on device");
      case CREATE, RENAME -> throw new FileSystemException(path, null, "No space left on device");
      default -> {
        // Needs no space.
      }
    }
  }

  /**
   * Halts without hooks and without flushing. (A process may not kill itself through its handle.)
   */
  private static void die() {
    Runtime.getRuntime().halt(KILLED);
  }
}
