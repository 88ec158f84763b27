package org.revenantdb.chaos.report;

import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * A line that shows how far something is: bar, rate, time left.
 *
 * <p>On a terminal the line is drawn over itself, ten times a second at most; elsewhere (a file, a
 * build's log) a line is added every few seconds. It belongs on the standard error, where it does
 * not get between results.
 *
 * <p>Threads: one.
 */
public final class Progress implements AutoCloseable {

  private static final int BAR = 24;
  private static final long TERMINAL_PAUSE = Duration.ofMillis(100).toNanos();
  private static final long LOG_PAUSE = Duration.ofSeconds(5).toNanos();

  private final PrintStream out;
  private final boolean terminal;
  private final String title;
  private final String unit;
  private final long total;
  private final long start = System.nanoTime();
  private long done;
  private long nextShow;
  private int shownWidth;
  private String note = "";

  private Progress(PrintStream out, boolean terminal, String title, String unit, long total) {
    this.out = out;
    this.terminal = terminal;
    this.title = title;
    this.unit = unit;
    this.total = total;
    this.nextShow = start + (terminal ? 0 : LOG_PAUSE);
  }

  /**
   * Starts a line on the standard error.
   *
   * @param title what is done
   * @param unit what is counted
   * @param total how many there are
   * @return the line
   */
  public static Progress start(String title, String unit, long total) {
    return new Progress(System.err, onTerminal(), title, unit, total);
  }

  private static boolean onTerminal() {
    return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
  }

  static Progress to(PrintStream out, boolean terminal, String title, String unit, long total) {
    return new Progress(out, terminal, title, unit, total);
  }

  /**
   * Moves on.
   *
   * @param nowDone how many are done, of all
   */
  public void at(long nowDone) {
    done = nowDone;
    long now = System.nanoTime();
    if (now - nextShow >= 0) {
      nextShow = now + (terminal ? TERMINAL_PAUSE : LOG_PAUSE);
      show(line(now - start));
    }
  }

  /**
   * Sets a text that stands behind the bar.
   *
   * @param text short
   */
  public void note(String text) {
    note = text;
  }

  /**
   * Ends the line: on a terminal it is cleared, so that what is printed next stands in its place;
   * elsewhere the last state is added.
   */
  @Override
  public void close() {
    if (!terminal) {
      show(line(System.nanoTime() - start));
    } else if (shownWidth > 0) {
      out.print("\r" + " ".repeat(shownWidth) + "\r");
      out.flush();
      shownWidth = 0;
    }
  }

  private void show(String line) {
    if (terminal) {
      String padding = " ".repeat(Math.max(0, shownWidth - line.length()));
      out.print("\r" + line + padding);
      out.flush();
      shownWidth = line.length();
    } else {
      out.println(line);
    }
  }

  String line(long nanos) {
    double seconds = Math.max(nanos, 1) / 1e9;
    double rate = done / seconds;
    double share = total == 0 ? 1 : Math.min(1, (double) done / total);
    int filled = (int) (share * BAR);
    String left =
        done == 0 || done >= total ? "" : ", %s left".formatted(seconds((total - done) / rate));
    return String.format(
        Locale.ROOT,
        "%-22s [%s%s] %3d %%  %,d of %,d %s, %,.0f/s%s%s",
        title,
        "#".repeat(filled),
        ".".repeat(BAR - filled),
        (int) (share * 100),
        done,
        total,
        unit,
        rate,
        left,
        note.isEmpty() ? "" : "  " + note);
  }

  private static String seconds(double seconds) {
    long whole = Math.round(seconds);
    return whole < 60 ? whole + " s" : "%d min %02d s".formatted(whole / 60, whole % 60);
  }
}
