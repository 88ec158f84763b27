package org.revenantdb.chaos.run;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Watchdog;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;

/**
 * Shows whether a failure in this JVM comes from static state that other images left: the image is
 * opened once more, alone in a fresh JVM.
 *
 * <p>Only a subject that is made by its class can be made there. For others nothing is shown.
 *
 * <p>Threads: any; they take turns. Failure: if a JVM cannot be started, nothing is shown.
 */
final class Alone {
  /*
   * A start takes longer than hundreds of small images, and a run may have thousands of failures. So
   * the first failure of each kind is opened alone, then the second, the fourth, the eighth and so
   * on. Between them a failure counts as the last one of its kind that was opened alone. If no JVM
   * can be started, this opening shows nothing and the next failure of its kind is opened instead.
   * A run does that a few times only, because each try may take long.
   */

  /** What a report has if static state is the reason. */
  static final String LEAK =
      "static state of the store leaks between images: this one failed in a JVM that has opened"
          + " other images, and survived alone in a fresh JVM. This is no failure of the store after"
          + " a crash. Set isolated = true in @CrashTest, so that images are opened in JVMs of their"
          + " own";

  /** The same for a failure that also occurs only sometimes in this JVM. */
  static final String LEAK_OR_CHANCE =
      "static state of the store leaks between images that are open at the same time, or the store"
          + " fails by chance: equal images failed and survived beside others, and survived every"
          + " time alone in a fresh JVM. Set isolated = true in @CrashTest, which shows the reason";

  /** The same for the life after a fault or after a death. */
  static final String LEAK_BETWEEN_LIVES =
      "static state of the store leaks from one life to the next one in this JVM, which stands for"
          + " another process: it could not open files that it opens in a fresh JVM. With files = ANY"
          + " each life has a JVM of its own";

  private static final String NOT_CHECKED =
      "whether static state of the store leaks between images was not checked: ";
  private static final int LOOKS = 8;

  /** After so many openings that showed nothing, they count like the others. */
  private static final int RETRIES = 8;

  /** Nothing is shown. */
  private static final Alone UNKNOWN =
      new Alone(
          null,
          new Known(
              NOT_CHECKED + "only a subject that is made by its class can be made in another JVM"),
          null);

  /** Opens an image several times in one fresh JVM, until a check fails. */
  @FunctionalInterface
  interface Fresh {

    /**
     * Opens the image.
     *
     * @param image is not changed
     * @param log the promises
     * @param seq the crash point
     * @param times how often
     * @return one or more results; only the last one may be a failure
     * @throws IOException if there is no place for images
     */
    List<StateResult> open(DiskImage image, PromiseLog log, long seq, int times) throws IOException;
  }

  private final @Nullable Fresh fresh;
  private final Known known;
  private final @Nullable Watchdog watchdog;

  private Alone(@Nullable Fresh fresh, Known known, @Nullable Watchdog watchdog) {
    this.fresh = fresh;
    this.known = known;
    this.watchdog = watchdog;
  }

  /** What the threads of a run share; its lock is the right to open an image. */
  private static final class Known {
    private final Map<String, Kind> kinds = new HashMap<>();
    private String unknown;
    private int silent;

    Known(String unknown) {
      this.unknown = unknown;
    }
  }

  /** How often a kind of failure occurred, and whether the last one opened alone survived. */
  private record Kind(long count, boolean leaks) {}

  /**
   * Creates the means for the subjects of a run.
   *
   * @param subjects creates them
   * @param limit of a step of a check
   * @return shows nothing unless the subjects are made by their class
   */
  static Alone of(Supplier<?> subjects, Duration limit) {
    return of(subjects, limit, List.of());
  }

  /**
   * Creates the means for the subjects of a run.
   *
   * @param subjects creates them
   * @param limit of a step of a check
   * @param flags further flags of the JVMs
   * @return shows nothing unless the subjects are made by their class
   */
  static Alone of(Supplier<?> subjects, Duration limit, List<String> flags) {
    return subjects instanceof Subjects.OfClass<?> made
        ? with((image, log, seq, times) -> {
          try (Workers workers = Workers.inMemory(made.type(), flags, limit, Workers.IMAGES)) {
            return workers.alone(image, log, seq, times);
          }
        })
        : UNKNOWN;
  }

  /**
   * Creates the means from a way to open images.
   *
   * @param fresh opens images
   * @return the means
   */
  static Alone with(Fresh fresh) {
    return new Alone(fresh, new Known(""), null);
  }

  /** Returns the means for checkers that open images in JVMs of their own already. */
  static Alone already() {
    return new Alone(null, new Known(""), null);
  }

  /**
   * Returns the same means for a thread that is watched: to wait for another JVM is no stall.
   *
   * @param other watches the calling thread
   * @return shares what is known
   */
  Alone watchedBy(Watchdog other) {
    return new Alone(fresh, known, other);
  }

  private <T> T inTurn(Supplier<T> task) {
    Watchdog watch = watchdog;
    if (watch != null) {
      watch.rest(true);
    }
    try {
      synchronized (known) {
        return task.get();
      }
    } finally {
      if (watch != null) {
        watch.rest(false);
      }
    }
  }

  /** Why nothing is shown, for reports; empty if it is, or if it need not be. */
  String unknown() {
    synchronized (known) {
      return known.unknown;
    }
  }

  /**
   * Adds to a story that nothing is shown: behind the first line, because the end is for the stack.
   *
   * @param story of a failure
   * @return the story; with a sentence if something would have been shown
   */
  String withNote(String story) {
    String note = unknown();
    if (note.isEmpty()) {
      return story;
    }
    int end = story.indexOf('\n');
    String first = end < 0 ? story : story.substring(0, end);
    return first + "\n(" + note + ")" + (end < 0 ? "" : story.substring(end));
  }

  /**
   * Returns whether a failure that occurs each time in this JVM comes from static state.
   *
   * @param kind the kind of the failure
   * @param image is not changed
   * @param log the promises
   * @param seq the crash point
   * @return false if the image fails alone, too, or if nothing is shown
   */
  boolean isLeak(String kind, DiskImage image, PromiseLog log, long seq) {
    return inTurn(() -> {
      Kind last = known.kinds.getOrDefault(kind, new Kind(0, false));
      long count = last.count + 1;
      boolean leaks = last.leaks;
      if (Long.bitCount(count) == 1) {
        List<StateResult> results = open(image, log, seq, 1);
        if (!results.isEmpty()) {
          leaks = results.getFirst().survived();
        } else if (++known.silent <= RETRIES) {
          count = last.count; // the next failure of this kind takes its turn
        }
      }
      known.kinds.put(kind, new Kind(count, leaks));
      return leaks;
    });
  }

  /**
   * Opens an image alone.
   *
   * @param image is not changed
   * @param log the promises
   * @param seq the crash point
   * @return the result; null if nothing is shown
   */
  @Nullable StateResult once(DiskImage image, PromiseLog log, long seq) {
    List<StateResult> results = inTurn(() -> open(image, log, seq, 1));
    return results.isEmpty() ? null : results.getFirst();
  }

  /**
   * Returns whether an image always gives the same answers and survives if it is alone. Then it is
   * likely that a failure beside other images comes from static state.
   *
   * @param image is not changed
   * @param log the promises
   * @param seq the crash point
   * @return false also if nothing is shown
   */
  boolean alwaysSurvives(DiskImage image, PromiseLog log, long seq) {
    List<StateResult> results = inTurn(() -> open(image, log, seq, LOOKS));
    return !results.isEmpty()
        && results.getLast().survived()
        && results.stream().mapToLong(StateResult::answers).distinct().count() == 1;
  }

  private List<StateResult> open(DiskImage image, PromiseLog log, long seq, int times) {
    Fresh opener = fresh;
    if (opener == null) {
      return List.of();
    }
    try {
      List<StateResult> results = opener.open(image, log, seq, times);
      known.unknown = "";
      return results;
    } catch (IOException | RuntimeException e) {
      known.unknown = NOT_CHECKED + e;
      return List.of();
    }
  }
}
