package org.revenantdb.suite.crash;

import java.time.Duration;
import org.revenantdb.chaos.report.Progress;

/**
 * A line on the standard error for each part of the suite. It shows how much of the part's time has
 * passed, and stays when the part has ended.
 *
 * <p>Threads: any may change the note; a separate thread draws the line.
 */
final class SuiteProgress implements AutoCloseable {

  private static final Duration TICK = Duration.ofMillis(200);

  private final Duration budget;
  private final String title;
  private final Thread ticker;
  private volatile String note = "";
  private volatile boolean ended;

  private SuiteProgress(String title, Duration budget) {
    this.title = title;
    this.budget = budget;
    this.ticker = Thread.ofPlatform().daemon().name("progress").unstarted(this::draw);
  }

  /** Begins a line. */
  static SuiteProgress start(String title, Duration budget) {
    SuiteProgress progress = new SuiteProgress(title, budget);
    progress.ticker.start();
    return progress;
  }

  /** Sets the text behind the bar. */
  void note(String text) {
    note = text;
  }

  private void draw() {
    try (Progress line = Progress.timed(title, budget)) {
      while (!ended) {
        line.note(note);
        line.tick();
        try {
          Thread.sleep(TICK);
        } catch (InterruptedException wake) {
          // checks whether it has ended
        }
      }
      line.note(note);
    }
  }

  @Override
  public void close() {
    ended = true;
    ticker.interrupt();
    boolean interrupted = false;
    while (ticker.isAlive()) {
      try {
        ticker.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
