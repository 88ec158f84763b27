package org.revenantdb.chaos.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.coverage.CallSite;
import org.revenantdb.chaos.coverage.ForceSites;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.power.AimedStates;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.DiskRules;
import org.revenantdb.chaos.power.NodePaths;
import org.revenantdb.chaos.power.PlatformProfile;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Site;
import org.revenantdb.chaos.trace.Trace;

/**
 * Takes the forces of one place after the other out of recorded runs and demands that something
 * goes wrong (docs/chaos.md §8).
 *
 * <p>Threads: {@link #run} uses as many as the options say and waits for them.
 *
 * @param <S> the open store
 */
public final class ForceCoverage<S> {
  /*
   * Where and what. AimedStates cuts where the dropped forces are missed most and loses what only they made durable,
   * with or without losing and tearing what else was pending: the states that the forces exist to prevent.
   *
   * What counts. A state that fails, while its twin survives: the same crash point and losses in the trace as it was,
   * where the forces keep what they keep. So nothing but the dropped forces can be the reason. Where both are equal the
   * forces make no difference, and nothing is opened.
   *
   * Time is shared out among the places that are left, so that one that nothing detects does not use it up.
   */

  private static final DiskRules RULES = PlatformProfile.STRICT_POSIX.rules();
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int STATES = 24;
  private static final int ROUNDS = 40;
  private static final int RECOVERIES = 60;
  private static final int RECOVERIES_OF_ONE = 6;
  private static final int DAMAGES = 6;

  private final Supplier<CrashSubject<S>> subjects;
  private final CrashSubject<S> subject;
  private final List<Recording> recordings;
  private final long seed;
  private final int workers;
  private final Duration budget;
  private final long begun = System.nanoTime();
  private final List<Recording> recoveries = new ArrayList<>();

  /**
   * Prepares the mutations.
   *
   * @param subjects makes subjects; the first one's seam, code and kinds of files count
   * @param recordings of runs and of recoveries
   * @param seed of what is drawn
   * @param workers threads
   * @param budget when no more places are begun; those left are told as undetected
   */
  public ForceCoverage(
      Supplier<CrashSubject<S>> subjects,
      List<Recording> recordings,
      long seed,
      int workers,
      Duration budget) {
    this.subjects = subjects;
    this.subject = subjects.get();
    this.recordings = recordings.stream().filter(Recording::usable).toList();
    this.seed = seed;
    this.workers = workers;
    this.budget = budget;
  }

  /** The forces of one place in one recording. */
  private record Forces(Recording recording, List<Operation.Force> forces) {}

  /**
   * Mutates every place.
   *
   * @return a row for each place and kind of file that a recording reached, and one for each place
   *     that none reached
   * @throws IllegalStateException if a worker died, so that places were left out
   */
  public List<CoverageRow> run() {
    SortedMap<Site, List<Forces>> sites = reached();
    SortedMap<Site, CoverageRow> rows = new ConcurrentSkipListMap<>();
    List<Map.Entry<Site, List<Forces>>> order = List.copyOf(sites.entrySet());
    AtomicInteger next = new AtomicInteger();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      threads.add(
          Thread.ofPlatform()
              .daemon()
              .name("force coverage " + i)
              .start(() -> {
                try {
                  work(order, next, rows);
                } catch (Exception | Error e) { // what a subject throws never comes this far
                  failure.compareAndSet(null, e);
                }
              }));
    }
    threads.forEach(ForceCoverage::await);
    Throwable died = failure.get();
    if (died != null) {
      throw new IllegalStateException(
          "force coverage is not whole, as a worker died: " + died, died);
    }
    List<CoverageRow> result = new ArrayList<>(rows.values());
    for (CallSite site : unreached(sites.keySet())) {
      Site unknown = new Site(site.className(), site.method(), site.line(), "never reached");
      result.add(new CoverageRow(unknown, 0, 0, ""));
    }
    return result;
  }

  private void work(
      List<Map.Entry<Site, List<Forces>>> order,
      AtomicInteger next,
      SortedMap<Site, CoverageRow> rows) {
    PatientChecker<S> checker = new PatientChecker<>(subjects, /* resume= */ true, LIMIT);
    for (int n; (n = next.getAndIncrement()) < order.size(); ) {
      Site site = order.get(n).getKey();
      List<Forces> all = order.get(n).getValue();
      long left = budget.toNanos() - (System.nanoTime() - begun);
      long slice = Math.max(0, left) * workers / (order.size() - n);
      rows.put(site, new Mutation(site, all, checker).row(slice));
    }
  }

  private static void await(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
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

    private final Site site;
    private final List<Forces> all;
    private final PatientChecker<S> checker;
    private final Random random;
    private long states;
    private int kept;

    Mutation(Site site, List<Forces> all, PatientChecker<S> checker) {
      this.site = site;
      this.all = all;
      this.checker = checker;
      this.random = new Random(seed ^ site.toString().hashCode());
    }

    /**
     * Tries one recording after the other, then the recoveries that losses of this and of other
     * places made necessary, then all again with a flipped bit on top; each for an equal share of
     * the time that is left.
     */
    CoverageRow row(long slice) {
      int count = all.stream().mapToInt(forces -> forces.forces.size()).sum();
      long until = System.nanoTime() + slice;
      String found = tryAll(all, /* damaged= */ false, until - slice / 2);
      if (found.isEmpty()) {
        found = tryAll(inRecoveries(), /* damaged= */ false, until - slice / 4);
      }
      if (found.isEmpty()) {
        found = tryAll(all, /* damaged= */ true, until);
      }
      return new CoverageRow(site, count, states, found);
    }

    /**
     * A few states of each in turn, so that neither a long recording nor a late moment waits for
     * long.
     */
    private String tryAll(List<Forces> among, boolean damaged, long until) {
      for (int round = 0; round < ROUNDS; round++) {
        for (Forces forces : among) {
          if (System.nanoTime() > until) {
            return "";
          }
          String found = mutate(forces, damaged, round);
          if (!found.isEmpty()) {
            return found;
          }
        }
      }
      return "";
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

    private String mutate(Forces forces, boolean damaged, int round) {
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
                  .plan(Seeds.of(seed, round), STATES)
                  .dropping(force -> dropped.contains(force.seq())));
      while (aimed.hasNext()) {
        CrashState state = aimed.next();
        DiskImage twin = intact.state(state.seq(), state.losses()).image();
        if (twin.hash() != state.image().hash()) { // else the forces make no difference to it
          String found =
              damaged
                  ? compareDamaged(forces.recording, state, twin)
                  : compare(forces.recording, state, twin);
          if (!found.isEmpty()) {
            return found;
          }
        }
      }
      return "";
    }

    private String compare(Recording recording, CrashState state, DiskImage twin) {
      states++;
      DiskImage spare = state.image().fork();
      StateResult result = checker.at(state.image(), recording.promises(), state.seq());
      if (result.survived()) {
        keepRecovery(recording, state.seq(), spare);
        return "";
      }
      boolean twinSurvives = checker.at(twin, recording.promises(), state.seq()).survived();
      return twinSurvives ? told(result, state, "") : "";
    }

    /** What the loss made necessary to mend is where other places of a recovery are needed. */
    private void keepRecovery(Recording recording, long seq, DiskImage image) {
      synchronized (recoveries) {
        if (recoveries.size() >= RECOVERIES || kept >= RECOVERIES_OF_ONE) {
          return;
        }
      }
      try {
        Recording recovery =
            checker.checker().checkRecorded(image, recording.promises(), seq).recording();
        if (!recovery.usable()) {
          return;
        }
        synchronized (recoveries) {
          recoveries.add(recovery);
          kept++;
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e); // a disk in memory
      }
    }

    /**
     * A flipped bit must be found or do no harm. A force may be there for that alone: without it
     * the damage would be mended with something stale.
     */
    private String compareDamaged(Recording recording, CrashState state, DiskImage twin) {
      List<Operation.Write> writes = new ArrayList<>();
      for (Operation operation : recording.trace().operations()) {
        if (operation.seq() < state.seq()
            && operation instanceof Operation.Write write
            && state.image().exists(write.node())) {
          writes.add(write);
        }
      }
      for (int i = 0; i < DAMAGES && !writes.isEmpty(); i++) {
        Operation.Write write = writes.get(random.nextInt(writes.size()));
        long place = write.offset() + random.nextInt(Math.max(1, write.data().length));
        DiskImage bad = state.image().fork();
        DiskImage badTwin = twin.fork();
        flip(bad, write.node(), place);
        flip(badTwin, write.node(), place);
        states++;
        StateResult result = checker.at(bad, recording.promises(), state.seq());
        if (!result.findings().isEmpty()) {
          StateResult other = checker.at(badTwin, recording.promises(), state.seq());
          if (other.survived() || checker.checker().refused(other)) {
            return told(result, state, ", and one bit flipped");
          }
        }
      }
      return "";
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
