package org.revenantdb.suite.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.Together;

/**
 * Runs variants in child JVMs. If a variant hangs or ends its child, another child continues.
 *
 * <p>Threads: {@link #run} is called once; it reads each child in a separate thread.
 */
public final class FuzzRun {

  private static final String HEAP = "256m";
  private static final long LONG = 50_000;
  private static final Duration LONG_TIME = Duration.ofMinutes(10);

  private final FuzzOptions options;
  private final FuzzTally tally = new FuzzTally();
  private final AtomicReference<@Nullable String> broken = new AtomicReference<>();
  private final long end;
  private final long due;
  private Runnable listener = () -> {};

  /** Prepares a run. */
  public FuzzRun(FuzzOptions options) {
    this.options = options;
    end = options.variants() == 0 ? Long.MAX_VALUE : options.first() + options.variants();
    due = options.time().isZero() ? Long.MAX_VALUE : System.nanoTime() + options.time().toNanos();
  }

  /**
   * Returns the results so far.
   *
   * @return the counts
   */
  public FuzzTally tally() {
    return tally;
  }

  /**
   * Runs until the time or the variants are used up.
   *
   * @param listens called after each variant, by one thread at a time
   * @throws IOException if the directory cannot be used
   */
  public void run(Runnable listens) throws IOException {
    listener = listens;
    Files.createDirectories(options.directory());
    Together together = new Together();
    for (int child = 0; child < options.children(); child++) {
      int number = child;
      together.start("fuzz " + child, () -> children(number));
    }
    together.await();
    demandSound();
  }

  /**
   * Runs one variant again.
   *
   * @param text the variant in the form of a finding
   * @throws IOException if the directory cannot be used
   */
  public void one(String text) throws IOException {
    Variant.parse(text);
    Files.createDirectories(options.directory());
    try (ForkedJvm jvm = builder().argument("case").argument(text).fork()) {
      read(jvm, options.first());
    }
    demandSound();
  }

  private void demandSound() {
    String what = broken.get();
    if (what != null) {
      throw new FuzzFailure(what);
    }
  }

  private ForkedJvm.Builder builder() {
    ForkedJvm.Builder builder = ForkedJvm.of(FuzzChild.class).heap(HEAP);
    boolean isLong = options.variants() >= LONG || options.time().compareTo(LONG_TIME) >= 0;
    // In a long run the second compiler gains more than it costs.
    return (isLong ? builder.flags("-XX:+UseSerialGC") : builder.shortLived())
        .flags("-XX:-OmitStackTraceInFastThrow")
        .stallLimit(options.limit())
        .argument(options.directory())
        .argument(options.opener());
  }

  private boolean isOver() {
    return broken.get() != null || (due != Long.MAX_VALUE && System.nanoTime() - due >= 0);
  }

  private void children(int number) {
    long next = options.first();
    while (next < end && !isOver()) {
      try (ForkedJvm jvm =
          builder()
              .argument(options.seed())
              .argument(next)
              .argument(end)
              .argument(number)
              .argument(options.children())
              .fork()) {
        next = read(jvm, next);
      }
    }
  }

  /** The present variant of a child. */
  private static final class At {
    private long index;
    private @Nullable String variant;
    private boolean ended;
    private boolean wantsAnother;
  }

  /** Reads a child until it ends, and returns which variant comes next. */
  private long read(ForkedJvm jvm, long first) {
    At at = new At();
    at.index = first - 1;
    for (String line; (line = jvm.readLine()) != null; ) {
      hear(line, at);
      if (at.variant == null && isOver()) {
        jvm.kill();
        return at.index + 1;
      }
    }
    int code = jvm.awaitEnd();
    if (at.ended) {
      return Long.MAX_VALUE;
    }
    if (at.wantsAnother) {
      return at.index + 1;
    }
    String variant = at.variant;
    if (variant == null) {
      broken.compareAndSet(
          null,
          "a child ended with exit code %d%s between variants: %s"
              .formatted(code, jvm.stalled() ? ", having stalled," : "", jvm.stderr()));
      return Long.MAX_VALUE;
    }
    Outcome outcome = jvm.stalled() ? Outcome.HANGS : Outcome.JVM_DEATHS;
    tally.found(HangReport.of(outcome, code, jvm.stderr()), variant);
    tally.count(Variant.parse(variant).kind(), outcome);
    progress();
    return at.index + 1;
  }

  private void hear(String line, At at) {
    List<String> words = List.of(line.split(" ", -1));
    switch (words.getFirst()) {
      case "B" -> {
        at.index = Long.parseLong(words.get(1));
        at.variant = FuzzChild.decoded(words.get(2));
      }
      case "F" ->
          tally.found(
              new Finding(
                  Outcome.valueOf(words.get(2)),
                  FuzzChild.decoded(words.get(3)),
                  FuzzChild.decoded(words.get(4)),
                  FuzzChild.decoded(words.get(6))),
              FuzzChild.decoded(words.get(5)));
      case "E" -> {
        at.variant = null;
        tally.count(words.get(2), Outcome.valueOf(words.get(3)));
        progress();
      }
      case "N" -> at.wantsAnother = true;
      case "Q" -> at.ended = true;
      case "H" -> broken.compareAndSet(null, line.substring(2));
      default -> {} // alive
    }
  }

  private synchronized void progress() {
    listener.run();
  }

  /** The kinds of faults, for tests. */
  List<Outcome> faults() {
    List<Outcome> faults = new ArrayList<>();
    for (Outcome outcome : Outcome.values()) {
      if (outcome.isFault() && tally.of(outcome) > 0) {
        faults.add(outcome);
      }
    }
    return faults;
  }
}
