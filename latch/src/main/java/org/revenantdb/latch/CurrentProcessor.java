package org.revenantdb.latch;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * The processor that the calling thread runs on right now.
 *
 * <p>A call opens a file. So call it only before something as expensive as parking, and only if
 * {@link CacheTopology} has more than one node. There is no cheaper way without native access.
 */
final class CurrentProcessor {
  /*
   * /proc/thread-self/stat, one line (proc_pid_stat(5)):
   *
   *     4711 (a name) S 1 ... 17 5 0 ...
   *     |    |        |          |
   *     1    2        3          39: the processor
   *
   * The name is the thread's and may contain anything, blanks and parentheses too. The fields behind it have no
   * parentheses, so the last parenthesis in the line ends the name.
   */
  private static final String STAT = "/proc/thread-self/stat";

  /** 52 numbers of at most 20 digits; the name has 16 bytes, 64 in a kernel thread. */
  private static final int MAX_LINE = 1280;

  private static final int FIELD_AFTER_NAME = 3;
  private static final int FIELD_OF_PROCESSOR = 39;

  private CurrentProcessor() {}

  /**
   * Asks the operating system.
   *
   * @return the number of the processor; -1 if it is not known: not Linux, a virtual thread (the
   *     number would be its carrier's, and the thread may continue on another one), or any failure
   */
  static int get() {
    if (Thread.currentThread().isVirtual()) {
      return -1;
    }
    try (InputStream in = new FileInputStream(STAT)) {
      byte[] line = new byte[MAX_LINE];
      return parse(line, in.readNBytes(line, 0, line.length));
    } catch (IOException | RuntimeException | Error e) {
      // Whatever the error is, a thread that is about to park must not fail because
      // of a preference.
      return -1;
    }
  }

  /** The processor in a line of that file; -1 if the line is incomplete. */
  static int parse(byte[] line, int length) {
    int at = length - 1;
    while (at >= 0 && line[at] != ')') {
      at--;
    }
    if (at < 0) {
      return -1;
    }
    at++;
    for (int field = FIELD_AFTER_NAME; field <= FIELD_OF_PROCESSOR; field++) {
      if (at >= length || line[at] != ' ') {
        return -1;
      }
      at++;
      if (field == FIELD_OF_PROCESSOR) {
        return numberAt(line, at, length);
      }
      while (at < length && line[at] != ' ') {
        at++;
      }
    }
    return -1;
  }

  private static int numberAt(byte[] line, int start, int length) {
    long number = 0;
    int at = start;
    for (; at < length && line[at] >= '0' && line[at] <= '9'; at++) {
      number = number * 10 + (line[at] - '0');
      if (number > Integer.MAX_VALUE) {
        return -1;
      }
    }
    boolean ends = at < length && (line[at] == ' ' || line[at] == '\n');
    return at > start && ends ? (int) number : -1;
  }
}
