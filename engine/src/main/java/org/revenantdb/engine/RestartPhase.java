package org.revenantdb.engine;

import java.util.Locale;

/** What a restart does that takes time. The database is open between the two. */
public enum RestartPhase {
  /** Reads the log to find out what happened. */
  ANALYSIS(1),
  /**
   * Brings the pages up to date that the log speaks of, in the background: each when it is first
   * needed, the others one by one.
   */
  REDO(2);

  private final int code;

  RestartPhase(int code) {
    this.code = code;
  }

  /** What stands for it in the counters file (docs/format.md §7). */
  int code() {
    return code;
  }

  /**
   * The phase that a counters file names.
   *
   * @param code what stands for it there
   * @return its name, or what to call one that this version does not know
   */
  public static String textOf(int code) {
    for (RestartPhase phase : values()) {
      if (phase.code == code) {
        return phase.text();
      }
    }
    return "phase " + code;
  }

  /**
   * The name under which it is shown.
   *
   * @return the name in lower case
   */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
