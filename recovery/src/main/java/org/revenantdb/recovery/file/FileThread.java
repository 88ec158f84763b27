package org.revenantdb.recovery.file;

/**
 * A platform thread of the engine's own, which may touch files: nobody has it to interrupt, and an
 * interrupt at a {@link java.nio.channels.FileChannel} closes it for everybody.
 *
 * <p>Whoever is not one lets one do the work, and waits.
 */
public final class FileThread extends Thread {

  private FileThread(String name, Runnable work) {
    super(work, name);
    setDaemon(true);
  }

  /**
   * Makes such a thread; a daemon, not started yet.
   *
   * @param name of the thread
   * @param work what it does
   * @return the thread
   */
  public static FileThread of(String name, Runnable work) {
    return new FileThread(name, work);
  }

  /**
   * Tells whether the caller may touch files itself.
   *
   * @return true on a thread of this kind
   */
  public static boolean isCurrent() {
    return Thread.currentThread() instanceof FileThread;
  }
}
