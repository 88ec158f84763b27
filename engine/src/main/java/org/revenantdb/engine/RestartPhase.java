package org.revenantdb.engine;

import java.util.Locale;
import org.revenantdb.recovery.restart.RestartProgress;

/** What a restart does that takes time: in this order, and then the database is open. */
public enum RestartPhase {
  /** Reads the log to find out what happened. */
  ANALYSIS(1),
  /** Reads the log again, with the pages that it speaks of, and brings them up to date. */
  REDO(2);

  private final int code;

  RestartPhase(int code) {
    this.code = code;
  }

  /** What stands for it in the counters file (docs/format.md §7). */
  int code() {
    return code;
  }

  static RestartPhase of(RestartProgress.Phase phase) {
    return switch (phase) {
      case ANALYSIS -> ANALYSIS;
      case REDO -> REDO;
    };
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
