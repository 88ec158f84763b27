package org.revenantdb.chaos.crash;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The child's end of the pipe: what it says here outlives it.
 *
 * <p>Each call is one write to the operating system, nothing is buffered. So when {@link #say} has
 * returned, the parent will read the line, whatever becomes of the child; killed before that, it
 * may have said some of the lines of the call, each of them whole. Promises (an acknowledged
 * commit) are said <em>after</em> they were made, attempts <em>before</em> they are made.
 *
 * <p>Threads: any; lines of several threads do not mix. A child whose parent is gone halts.
 */
public final class ChildPipe {

  private final OutputStream out;

  private ChildPipe(OutputStream out) {
    this.out = out;
  }

  /**
   * Takes the standard output for the pipe. Whatever else prints to {@code System.out} goes to the
   * standard error from now on. A thread waits for the end of the standard input, which is the
   * parent's end, and halts the JVM then.
   *
   * @return the pipe
   */
  public static ChildPipe open() {
    ChildPipe pipe = new ChildPipe(new FileOutputStream(FileDescriptor.out));
    System.setOut(System.err);
    Thread.ofPlatform().daemon().name("parent watch").start(ChildPipe::haltWithParent);
    return pipe;
  }

  /**
   * Says one or several lines in one write.
   *
   * @param lines without the last line's end
   */
  public void say(CharSequence lines) {
    byte[] bytes = (lines + "\n").getBytes(StandardCharsets.UTF_8);
    synchronized (this) {
      try {
        out.write(bytes);
      } catch (IOException e) {
        Runtime.getRuntime().halt(4);
      }
    }
  }

  private static void haltWithParent() {
    try {
      while (System.in.read() >= 0) {}
    } catch (IOException e) {
      // The same as the end of the stream: nobody is there any more.
    }
    Runtime.getRuntime().halt(4);
  }
}
