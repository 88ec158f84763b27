package org.revenantdb.chaos.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.coverage.CallSite;
import org.revenantdb.chaos.coverage.ForceSites;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.crash.Together;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.power.AimedStates;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.NodePaths;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Site;
import org.revenantdb.chaos.trace.Trace;

/**
 * Removes the forces of one place after the other from recorded runs and requires that this causes
 * a failure (docs/chaos.md §8).
 *
 * <p>Threads: {@link #run} uses the number in the options and waits for them.
 *
 * @param <S> the open store
 */
public final class ForceCoverage<S> {
  /*
   * Which states. AimedStates cuts where the dropped forces are needed most and loses what only
   * they made durable, with or without losing and tearing other pending operations: the states that
   * the forces exist to prevent.
   *
   * What counts. A state that fails while its twin survives: the same crash point and losses in the
   * unchanged trace, where the forces keep their effect. So only the dropped forces can be the
   * reason. If both images are equal, the forces make no difference, and nothing is opened.
   *
   * Time is divided into turns. A place that is detected at once leaves its time to the others,
   * which continue in a later turn where they stopped.
   */

  private static final DiskRules RULES = PlatformProfile.STRICT_POSIX.rules();
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int STATES = 24;
  private static final int ROUNDS = 40;

  /**
   * After this many rounds over all recordings, intact and damaged, a place counts as not detected.
   */
  private static final int THOROUGH = 3;

  /** The approximate number of turns of a place that is not detected. */
  private static final int TURNS = 4;

  private static final int RECOVERIES = 60;
  private static final int RECOVERIES_OF_ONE = 6;
  private static final int DAMAGES = 6;

  private final Supplier<Opener> openers;
  private final CrashSubject<S> subject;
  private final List<Recording> recordings;
  private final long seed;
  private final int workers;
  private final Duration budget;
  private final int rounds;
  private final long begun = System.nanoTime();
  private final List<Recording> recoveries = new ArrayList<>();

  /**
   * Prepares the mutations.
   *
   * @param subjects creates subjects; the seam, code and kinds of files of the first one count
   * @param recordings of runs and of recoveries
   * @param seed of all random choices
   * @param workers the number of threads
   * @param budget the time after which no more places are begun; the rest is reported as not
   *     thoroughly tried
   */
  public ForceCoverage(
      Supplier<CrashSubject<S>> subjects,
      List<Recording> recordings,
      long seed,
      int workers,
      Duration budget) {
    this(
        subjects.get(),
        // A missing force shows when the store is opened; new work would double the time.
        () -> new InMemory<>(new PatientChecker<>(subjects, /* resume= */ false, LIMIT)),
        recordings,
        seed,
        workers,
        budget,
        ROUNDS);
  }

  private ForceCoverage(
      CrashSubject<S> subject,
      Supplier<Opener> openers,
      List<Recording> recordings,
      long seed,
      int workers,
      Duration budget,
      int rounds) {
    this.subject = subject;
    this.openers = openers;
    this.recordings = recordings.stream().filter(Recording::usable).toList();
    this.seed = seed;
    this.workers = workers;
    this.budget = budget;
    this.rounds = rounds;
  }

  /**
   * Prepares the mutations of a store whose images are opened elsewhere. Recoveries are recorded
   * there if the checkers can. The number of states is bounded, and not the time.
   *
   * @param subject its seam, code and kinds of files count
   * @param checkers opens images, one for each thread
   * @param recordings of runs
   * @param seed of all random choices
   * @param workers the number of threads
   * @param <S> the open store
   * @return the mutations
   */
  public static <S> ForceCoverage<S> with(
      CrashSubject<S> subject,
      Supplier<? extends ImageChecker> checkers,
      List<Recording> recordings,
      long seed,
      int workers) {
    return new ForceCoverage<>(
        subject,
        () -> new Elsewhere(checkers.get()),
        recordings,
        seed,
        workers,
        Duration.ofDays(1),
        THOROUGH);
  }

  /**
   * Returns the same mutations with a bounded number of states instead of a bounded time.
   *
   * @return others
   */
  public ForceCoverage<S> thoroughOnly() {
    return new ForceCoverage<>(
        subject, openers, recordings, seed, workers, Duration.ofDays(1), THOROUGH);
  }

  /** Opens images for one thread. */
  private interface Opener extends AutoCloseable {
    StateResult at(DiskImage image, PromiseLog log, long seq);

    /** Opens an image and records the recovery; null if that cannot be done. */
    StateChecker.@Nullable Recorded recorded(DiskImage image, PromiseLog log, long seq);

    /** Whether the store has clearly refused its files. */
    boolean refused(StateResult result);

    @Override
    default void close() {}
  }

  /** Opens images on disks in memory. */
  private record InMemory<S>(PatientChecker<S> checker) implements Opener {
    @Override
    public StateResult at(DiskImage image, PromiseLog log, long seq) {
      return checker.at(image, log, seq);
    }

    @Override
    public StateChecker.Recorded recorded(DiskImage image, PromiseLog log, long seq) {
      return checker.recorded(image, log, seq);
    }

    @Override
    public boolean refused(StateResult result) {
      return checker.checker().refused(result);
    }
  }

  /** Opens images in another JVM. Its exceptions have no types here. */
  private record Elsewhere(ImageChecker checker) implements Opener {
    @Override
    public StateResult at(DiskImage image, PromiseLog log, long seq) {
      return checker.look(image, log, seq);
    }

    @Override
    public StateChecker.@Nullable Recorded recorded(DiskImage image, PromiseLog log, long seq) {
      try {
        return checker.records() ? checker.checkRecorded(image, log, seq) : null;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public boolean refused(StateResult result) {
      return false;
    }

    @Override
    public void close() {
      checker.close();
    }
  }

  /** The forces of one place in one recording. */
  private record Forces(Recording recording, List<Operation.Force> forces) {}

  /**
   * Removes the forces of every place in turn.
   *
   * @return a row for each place and kind of file that a recording reached, and one for each place
   *     that none reached
   * @throws IllegalStateException if a worker failed, so that places were left out
   */
  public List<CoverageRow> run() {
    SortedMap<Site, List<Forces>> sites = reached();
    SortedMap<Site, CoverageRow> rows = new ConcurrentSkipListMap<>();
    BlockingQueue<Mutation> turns = new LinkedBlockingQueue<>();
    sites.forEach((site, forces) -> turns.add(new Mutation(site, forces)));
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      threads.add(
          Thread.ofPlatform()
              .daemon()
              .name("force coverage " + i)
              .start(() -> {
                try {
                  work(turns, rows);
                } catch (Exception | Error e) { // exceptions of a subject never come this far
                  failure.compareAndSet(null, e);
                }
              }));
    }
    threads.forEach(Together::join);
    Throwable died = failure.get();
    if (died != null) {
      throw new IllegalStateException(
          "force coverage is not whole, as a worker died: " + died, died);
    }
    List<CoverageRow> result = new ArrayList<>(rows.values());
    for (CallSite site : unreached(sites.keySet())) {
      Site unknown = new Site(site.className(), site.method(), site.line(), "never reached");
      result.add(new CoverageRow(unknown, 0, 0, "", /* thorough= */ false));
    }
    return result;
  }

  /**
   * Sums up rows for a test: it passes if each force that was reached is needed by some state.
   *
   * @param rows of {@link #run}
   * @return survived; not measured, with the places that force for nothing as far as the test shows
   */
  public static Outcome outcome(List<CoverageRow> rows) {
    long needed = rows.stream().filter(CoverageRow::detected).count();
    return verdict(rows)
        .withSeen(
            Seen.NOTHING
                .with("places_with_a_force", rows.size())
                .with("states_without_a_force", states(rows))
                .with(needed + " of these places are needed")
                .withCoverage(rows));
  }

  private static long states(List<CoverageRow> rows) {
    return rows.stream().mapToLong(CoverageRow::states).sum();
  }

  private static Outcome verdict(List<CoverageRow> rows) {
    String name = "force coverage";
    List<CoverageRow> unnoticed = rows.stream().filter(row -> !row.detected()).toList();
    if (rows.isEmpty()) {
      return Outcome.of(name, Verdict.NOT_MEASURED, "the store forces no file and no directory");
    }
    if (!unnoticed.isEmpty()) {
      return Outcome.of(
          name,
          Verdict.NOT_MEASURED,
          "this test needs the forces of only %d of %d places; it would not notice the loss of:\n%s"
              .formatted(
                  rows.size() - unnoticed.size(),
                  rows.size(),
                  unnoticed.stream().map(ForceCoverage::text).collect(Collectors.joining("\n"))));
    }
    // No states: each lacks some force, so its verdict is no verdict of the store.
    return new Outcome(
        name,
        Verdict.SURVIVED,
        "",
        Map.of(Verdict.SURVIVED, (long) rows.size()),
        /* states= */ 0,
        /* kills= */ 0,
        new double[0],
        List.of());
  }

  private static String text(CoverageRow row) {
    return "  %s: %s"
        .formatted(
            row.site(),
            row.forces() == 0
                ? "never reached"
                : "%d forces, %d states without them".formatted(row.forces(), row.states()));
  }

  private void work(BlockingQueue<Mutation> turns, SortedMap<Site, CoverageRow> rows) {
    try (Opener opener = openers.get()) {
      for (Mutation mutation; (mutation = turns.poll()) != null; ) {
        long left = budget.toNanos() - (System.nanoTime() - begun);
        if (left <= 0) {
          rows.putIfAbsent(mutation.site, mutation.told(""));
          continue;
        }
        mutation.opener = opener;
        CoverageRow row = mutation.row(left * workers / (turns.size() + workers) / TURNS);
        rows.put(mutation.site, row);
        if (!row.detected() && !mutation.isExhausted()) {
          turns.add(mutation);
        }
      }
    }
  }

  private SortedMap<Site, List<Forces>> reached() {
    SortedMap<Site, List<Forces>> sites = new TreeMap<>();
    for (Recording recording : recordings) {
      sitesOf(recording)
          .forEach((site, forces) ->
              sites
                  .computeIfAbsent(site, s -> new ArrayList<>())
                  .add(new Forces(recording, forces)));
    }
    return sites;
  }

  private Map<Site, List<Operation.Force>> sitesOf(Recording recording) {
    NodePaths paths = new NodePaths(recording.trace());
    Map<Site, List<Operation.Force>> sites = new HashMap<>();
    for (Operation operation : recording.trace().operations()) {
      if (operation instanceof Operation.Force force) {
        sites.computeIfAbsent(siteOf(force, paths), s -> new ArrayList<>()).add(force);
      }
    }
    return sites;
  }

  private Site siteOf(Operation.Force force, NodePaths paths) {
    String path = paths.path(force.node(), force.seq());
    return Site.of(
        force.origin().stack(), subject.seam(), subject.kindOf(path.equals(".") ? "" : path));
  }

  private SortedSet<CallSite> unreached(Set<Site> reached) {
    SortedSet<CallSite> all = new TreeSet<>();
    if (!subject.code().isEmpty()) {
      all.addAll(ForceSites.find(subject.code(), subject.seam()));
      all.removeAll(reached.stream().map(CallSite::of).collect(Collectors.toSet()));
    }
    return all;
  }

  /** One place without its forces. */
  private final class Mutation {

    private static final int DAMAGED = 2;

    private final Site site;
    private final List<Forces> all;
    private final Random random;
    private final int[] steps = new int[3];
    private @Nullable Opener opener;
    private long states;
    private int turn;
    private int kept;
    private int known;

    Mutation(Site site, List<Forces> all) {
      this.site = site;
      this.all = all;
      this.random = new Random(seed ^ site.toString().hashCode());
    }

    /** That of the present worker. */
    private Opener checker() {
      return Objects.requireNonNull(opener);
    }

    /** Whether another turn would give nothing new. */
    boolean isExhausted() {
      return isTried(rounds);
    }

    /** Whether this many rounds over all recordings are done, intact and damaged. */
    private boolean isTried(int rounds) {
      int enough = rounds * all.size();
      return steps[0] >= enough && steps[DAMAGED] >= enough;
    }

    /**
     * Tries one recording after the other, then the recoveries after losses of this and of other
     * places, then all again with a flipped bit in addition; each for a share of the time.
     */
    CoverageRow row(long slice) {
      long until = System.nanoTime() + slice;
      // Later turns start with the phases that the first one hardly reached.
      String found = tryAll(all, 0, until - (turn++ == 0 ? slice / 2 : slice - slice / 4));
      if (found.isEmpty()) {
        List<Forces> now = inRecoveries();
        if (now.size() > known) {
          known = now.size();
          steps[1] = 0;
        }
        found = tryAll(now, 1, until - slice / 2);
      }
      if (found.isEmpty()) {
        found = tryAll(all, DAMAGED, until);
      }
      return told(found);
    }

    CoverageRow told(String found) {
      int count = all.stream().mapToInt(forces -> forces.forces.size()).sum();
      return new CoverageRow(site, count, states, found, !found.isEmpty() || isTried(THOROUGH));
    }

    /**
     * A few states of each in turn, from where the last turn stopped, so that neither a long
     * recording nor a late moment waits for long.
     */
    private String tryAll(List<Forces> among, int phase, long until) {
      while (steps[phase] < rounds * among.size()) {
        int step = steps[phase]++;
        Forces forces = among.get(step % among.size());
        String found = mutate(forces, phase == DAMAGED, step / among.size(), until);
        if (!found.isEmpty() || System.nanoTime() > until) {
          return found;
        }
      }
      return "";
    }

    /**
     * Few at first, because most losses are found by the first few states of some recording. Few
     * with damage, because only the first state of each place counts and the places come in order.
     */
    private static int states(boolean damaged, int round) {
      return damaged || round == 0 ? STATES / 2 : STATES;
    }

    private List<Forces> inRecoveries() {
      List<Recording> recorded;
      synchronized (recoveries) {
        recorded = List.copyOf(recoveries);
      }
      return recorded.stream()
          .map(recording -> new Forces(recording, sitesOf(recording).getOrDefault(site, List.of())))
          .filter(forces -> !forces.forces.isEmpty())
          .toList();
    }

    private String mutate(Forces forces, boolean damaged, int round, long until) {
      Set<Long> dropped =
          forces.forces.stream().map(Operation.Force::seq).collect(Collectors.toSet());
      Trace trace = forces.recording.trace();
      PowerCut intact = new PowerCut(trace, RULES);
      AimedStates aimed =
          new AimedStates(
              trace,
              RULES,
              forces
                  .recording
                  .plan(Seeds.of(seed, round), states(damaged, round))
                  .dropping(force -> dropped.contains(force.seq())));
      long last = -1;
      while (aimed.hasNext()) {
        CrashState state = aimed.next();
        if (damaged && state.seq() == last) {
          continue; // everything lost comes first, and less loss does not make damage worse
        }
        last = state.seq();
        DiskImage twin = intact.state(state.seq(), state.losses()).image();
        if (twin.hash() != state.image().hash()) { // otherwise the forces make no difference to it
          String found =
              damaged
                  ? compareDamaged(forces, state, twin, intact)
                  : compare(forces.recording, state, twin);
          if (!found.isEmpty() || System.nanoTime() > until) {
            return found;
          }
        }
      }
      return "";
    }

    private String compare(Recording recording, CrashState state, DiskImage twin) {
      states++;
      DiskImage spare = state.image().fork();
      DiskImage spareTwin = twin.fork();
      StateResult result = checker().at(state.image(), recording.promises(), state.seq());
      if (result.survived()) {
        return keepRecovery(recording, state, spare, spareTwin);
      }
      boolean twinSurvives = checker().at(twin, recording.promises(), state.seq()).survived();
      return twinSurvives ? told(result, state, "") : "";
    }

    /**
     * Keeps a recovery after the loss, because other places are needed in it. New work is part of
     * it and may be what fails.
     */
    private String keepRecovery(
        Recording recording, CrashState state, DiskImage image, DiskImage twin) {
      synchronized (recoveries) {
        if (recoveries.size() >= RECOVERIES || kept >= RECOVERIES_OF_ONE) {
          return "";
        }
      }
      StateChecker.Recorded recorded = checker().recorded(image, recording.promises(), state.seq());
      if (recorded == null) {
        return "";
      }
      if (!recorded.result().survived()) {
        StateChecker.Recorded other = checker().recorded(twin, recording.promises(), state.seq());
        boolean twinSurvives = other != null && other.result().survived();
        return twinSurvives ? told(recorded.result(), state, "") : "";
      }
      if (recorded.recording().usable()) {
        synchronized (recoveries) {
          recoveries.add(recorded.recording());
          kept++;
        }
      }
      return "";
    }

    /**
     * A flipped bit must be detected or be harmless. A force may exist only for that: without it
     * the damage would be repaired with old content, or not at all.
     */
    private String compareDamaged(
        Forces forces, CrashState state, DiskImage twin, PowerCut intact) {
      Recording recording = forces.recording;
      List<Operation> pending = intact.pending(state.seq());
      List<Operation.Write> places = rewritten(forces, state).stream().map(List::getLast).toList();
      List<Operation.Write> onTheirWay = places.stream().filter(pending::contains).toList();
      for (int i = 0; i < DAMAGES && !places.isEmpty(); i++) {
        List<Operation.Write> some = i % 2 == 0 || onTheirWay.isEmpty() ? places : onTheirWay;
        Operation.Write write = some.get(random.nextInt(some.size()));
        long place = write.offset() + random.nextInt(Math.max(1, write.data().length));
        DiskImage bad = state.image().fork();
        DiskImage badTwin = twin.fork();
        flip(bad, write.node(), place);
        flip(badTwin, write.node(), place);
        states++;
        StateResult result = checker().at(bad, recording.promises(), state.seq());
        if (!result.survived()) {
          StateResult other = checker().at(badTwin, recording.promises(), state.seq());
          boolean wrong = result.failure() == null && !result.findings().isEmpty();
          // Damage in a pending write is a torn write, which has to be repaired.
          boolean torn = pending.contains(write) && other.survived();
          if (torn || (wrong && (other.survived() || checker().refused(other)))) {
            return told(result, state, ", and one bit flipped");
          }
        }
      }
      return "";
    }

    /**
     * The writes of each place that was written more than once, or of all places if none was: a
     * repair with old content needs earlier content. The file of the missing force is not damaged,
     * because it would do the repair.
     */
    private List<List<Operation.Write>> rewritten(Forces forces, CrashState state) {
      Set<Integer> own =
          forces.forces.stream().map(Operation.Force::node).collect(Collectors.toSet());
      Map<List<Long>, List<Operation.Write>> writes = new LinkedHashMap<>();
      for (Operation operation : forces.recording.trace().operations()) {
        if (operation.seq() < state.seq()
            && operation instanceof Operation.Write write
            && !own.contains(write.node())
            && state.image().exists(write.node())) {
          writes
              .computeIfAbsent(List.of((long) write.node(), write.offset()), _ -> new ArrayList<>())
              .add(write);
        }
      }
      List<List<Operation.Write>> twice =
          writes.values().stream().filter(some -> some.size() > 1).toList();
      return twice.isEmpty() ? List.copyOf(writes.values()) : twice;
    }

    private static void flip(DiskImage image, int node, long place) {
      if (image.exists(node) && place < image.file(node).size()) {
        byte[] one = image.file(node).bytes(place, 1);
        one[0] ^= 1;
        image.file(node).write(place, ByteBuffer.wrap(one));
      }
    }

    private String told(StateResult result, CrashState state, String also) {
      return "%s, %s (crash point %d%s)"
          .formatted(result.verdict(), result.summary(), state.seq(), also);
    }
  }
}
