package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.nio.file.Path;
import org.revenantdb.recovery.file.DatabaseLockedException;
import org.revenantdb.recovery.file.DirectoryLock;

/**
 * Another process that wants a lock: says {@code locked} or {@code refused PID MESSAGE}, then waits
 * for the end of its input and releases it.
 */
public final class LockingProcess {
  private LockingProcess() {}

  /**
   * Locks.
   *
   * @param arguments directory; {@code shared} or {@code exclusive}
   * @throws IOException if the input cannot be read
   */
  public static void main(String[] arguments) throws IOException {
    try (DirectoryLock _ =
        DirectoryLock.acquire(Path.of(arguments[0]), arguments[1].equals("shared"))) {
      System.out.println("locked");
      while (System.in.read() >= 0) {
        // Until the parent closes it.
      }
    } catch (DatabaseLockedException refused) {
      System.out.println("refused " + refused.holderPid() + " " + refused.getMessage());
    }
  }
}
