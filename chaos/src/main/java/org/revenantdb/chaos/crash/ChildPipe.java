package org.revenantdb.chaos.crash;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;

/**
 * The child's end of the pipe: lines written here survive the child.
 *
 * <p>Each call is one write to the operating system, and nothing is buffered. So when {@link #say}
 * has returned, the parent will read the lines, whatever happens to the child. A child that is
 * killed during the call may have written some of its lines, each of them complete. Promises (an
 * acknowledged commit) are reported <em>after</em> they were made, attempts <em>before</em> they
 * are made.
 *
 * <p>Threads: any; lines of several threads do not mix. A child whose parent has ended halts.
 */
public final class ChildPipe {

  private static final int WITHOUT_PARENT = 4;

  private final OutputStream out;
  private final IntConsumer halt;

  private ChildPipe(OutputStream out, IntConsumer halt) {
    this.out = out;
    this.halt = halt;
  }

  /**
   * Uses the standard output as the pipe. Everything else that is printed to {@code System.out}
   * goes to the standard error from now on. A thread waits for the end of the standard input, which
   * means the end of the parent, and then halts the JVM.
   *
   * @return the pipe
   */
  public static ChildPipe open() {
    return open(code -> Runtime.getRuntime().halt(code));
  }

  /**
   * The same, with another way to end the process.
   *
   * @param halt ends the process with the given exit code, and does not return
   * @return the pipe
   */
  public static ChildPipe open(IntConsumer halt) {
    ChildPipe pipe = new ChildPipe(new FileOutputStream(FileDescriptor.out), halt);
    System.setOut(System.err);
    Thread.ofPlatform().daemon().name("parent watch").start(pipe::haltWithParent);
    return pipe;
  }

  /**
   * Writes one or several lines in one write.
   *
   * @param lines without the last line's end
   */
  public void say(CharSequence lines) {
    byte[] bytes = (lines + "\n").getBytes(StandardCharsets.UTF_8);
    synchronized (this) {
      try {
        out.write(bytes);
      } catch (IOException e) {
        halt.accept(WITHOUT_PARENT);
      }
    }
  }

  private void haltWithParent() {
    try {
      while (System.in.read() >= 0) {}
    } catch (IOException e) {
      // Same as the end of the stream: the parent has ended.
    }
    halt.accept(WITHOUT_PARENT);
  }
}
