package org.revenantdb.chaos.report;

import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * A line that shows progress. For counted work: bar, rate and remaining time. For a part with a
 * given time: how much of it has passed.
 *
 * <p>On a terminal the line is redrawn ten times a second at most. Elsewhere (a file, a build's
 * log) a line is added every few seconds. Every line is cut at the width of the terminal, or at 80
 * columns if that is unknown, because the rest of a longer line would stay on the screen. It
 * belongs on the standard error, where it does not mix with results. A timed part ends with one
 * line about its duration.
 *
 * <p>Threads: one.
 */
public final class Progress implements AutoCloseable {

  private static final int BAR = 24;
  private static final int SHORT_BAR = 12;

  /** The width of a terminal that does not report it. */
  private static final int USUAL_WIDTH = 80;

  private static final long TERMINAL_PAUSE = Duration.ofMillis(100).toNanos();
  private static final long LOG_PAUSE = Duration.ofSeconds(5).toNanos();

  private final PrintStream out;
  private final boolean terminal;
  private final String title;
  private final String unit;
  private final long total;
  private final boolean timed;
  private final long start = System.nanoTime();
  private long done;
  private long nextShow;
  private int shownWidth;
  private String note = "";

  private Progress(
      PrintStream out, boolean terminal, String title, String unit, long total, boolean timed) {
    this.timed = timed;
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
   * @param title the work
   * @param unit the unit that is counted
   * @param total the total number
   * @return the line
   */
  public static Progress start(String title, String unit, long total) {
    return new Progress(System.err, onTerminal(), title, unit, total, /* timed= */ false);
  }

  /**
   * Starts a line on the standard error for a part with a given time. {@link #tick} updates it.
   *
   * @param title the work
   * @param given about how long it may take
   * @return the line
   */
  public static Progress timed(String title, Duration given) {
    return timed(System.err, onTerminal(), title, given);
  }

  private static boolean onTerminal() {
    return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
  }

  static Progress to(PrintStream out, boolean terminal, String title, String unit, long total) {
    return new Progress(out, terminal, title, unit, total, /* timed= */ false);
  }

  static Progress timed(PrintStream out, boolean terminal, String title, Duration given) {
    return new Progress(out, terminal, title, "s", given.toNanos(), /* timed= */ true);
  }

  /**
   * Updates the count.
   *
   * @param nowDone the number done so far
   */
  public void at(long nowDone) {
    done = nowDone;
    // Except on a terminal, close writes the last line.
    if (terminal || done < total) {
      showNow();
    }
  }

  /** Updates the time that has passed. */
  public void tick() {
    showNow();
  }

  private void showNow() {
    long now = System.nanoTime();
    if (now - nextShow >= 0) {
      nextShow = now + (terminal ? TERMINAL_PAUSE : LOG_PAUSE);
      show(timed ? passed(now - start) : line(now - start));
    }
  }

  /**
   * Sets a text behind the bar.
   *
   * @param text a short text
   */
  public void note(String text) {
    note = text;
  }

  /**
   * Ends the line. On a terminal it is cleared, so that the next output takes its place; elsewhere
   * the last state is added. A timed part reports its duration, also on a terminal.
   */
  @Override
  public void close() {
    long nanos = System.nanoTime() - start;
    if (terminal && shownWidth > 0) {
      out.print("\r" + " ".repeat(shownWidth) + "\r");
      out.flush();
      shownWidth = 0;
    }
    if (timed) {
      out.println(cut(took(nanos), width()));
    } else if (!terminal) {
      out.println(cut(line(nanos), width()));
    }
  }

  void show(String whole) {
    String line = cut(whole, width());
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

  /** How much of its time a part has used. It may need more, so this is not a percentage. */
  String passed(long nanos) {
    double share = total == 0 ? 1 : (double) nanos / total;
    int filled = (int) (Math.min(1, share) * SHORT_BAR);
    String bar = "#".repeat(filled) + ".".repeat(SHORT_BAR - filled);
    String text = "%s of %s".formatted(time(nanos), time(total));
    return "%-22s [%s]  %s%s".formatted(title, bar, text, note.isEmpty() ? "" : "  " + note);
  }

  /** The last line of a timed part. */
  String took(long nanos) {
    return "%-22s %8s%s".formatted(title, time(nanos), note.isEmpty() ? "" : "  " + note);
  }

  /** With one decimal if that is significant. */
  private static String time(long nanos) {
    double seconds = nanos / 1e9;
    return seconds < 10 ? String.format(Locale.ROOT, "%.1f s", seconds) : seconds(seconds);
  }

  private static int width() {
    String columns = System.getenv().getOrDefault("COLUMNS", "");
    return columns.matches("[1-9][0-9]{1,3}") ? Integer.parseInt(columns) : USUAL_WIDTH;
  }

  /**
   * Returns a line of another progress, cut at the width of the terminal.
   *
   * @param line without its end
   * @return the part that fits
   */
  public static String fitted(String line) {
    return cut(line, width());
  }

  /** The last column stays free, because a cursor behind it would begin a new line. */
  static String cut(String line, int width) {
    return line.length() < width ? line : line.substring(0, width - 2) + "…";
  }

  private static String seconds(double seconds) {
    long whole = Math.round(seconds);
    return whole < 60 ? whole + " s" : "%d min %02d s".formatted(whole / 60, whole % 60);
  }
}
