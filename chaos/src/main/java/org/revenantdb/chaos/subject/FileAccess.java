package org.revenantdb.chaos.subject;

/** How a store uses its files, and so how they are recorded. */
public enum FileAccess {
  /**
   * Through the {@link java.nio.file.Path} that {@link CrashSubject#open} receives. The disk is in
   * memory, and everything happens in one JVM.
   */
  PATH,
  /**
   * By any means: {@link java.io.File}, {@link java.io.RandomAccessFile}, mapped memory, native
   * libraries. The store runs in a forked JVM on a real directory. On Linux with glibc the
   * framework hooks the C library's file functions; elsewhere an agent records what Java code does.
   */
  ANY
}
