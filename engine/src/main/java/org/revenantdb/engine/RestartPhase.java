package org.revenantdb.engine;

import java.util.Locale;

/** The two phases of a restart. The database is open from the end of the first one on. */
public enum RestartPhase {
  /** Reads the log to find out what happened. */
  ANALYSIS(1),
  /**
   * Brings pages that lack changes up to date in the background: each page when it is first needed,
   * the others one by one.
   */
  REDO(2);

  private final int code;

  RestartPhase(int code) {
    this.code = code;
  }

  /** The code of the phase in the counters file (docs/format.md §7). */
  int code() {
    return code;
  }

  /**
   * The phase in a counters file.
   *
   * @param code the code in the file
   * @return its name, or a text for a phase that this version does not know
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
