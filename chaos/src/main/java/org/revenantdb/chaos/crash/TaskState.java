package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The state letter of a thread in Linux' {@code /proc/PID/task/TID/stat}. */
final class TaskState {

  static final char STOPPED = 'T';
  static final char WAITS_FOR_DEVICE = 'D';

  /** The thread has ended, or the system has no such folder. */
  static final char GONE = '-';

  private TaskState() {}

  /**
   * Reads the letter behind the thread's name, which is in brackets and may contain any character.
   */
  static char of(Path task) {
    try {
      String stat = Files.readString(task.resolve("stat"));
      String behind = stat.substring(stat.lastIndexOf(')') + 1).strip();
      return behind.isEmpty() ? GONE : behind.charAt(0);
    } catch (IOException e) {
      return GONE;
    }
  }
}
