package org.revenantdb.chaos.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
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
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.revenantdb.chaos.coverage.CallSite;
import org.revenantdb.chaos.coverage.ForceSites;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.NodePaths;
import org.revenantdb.chaos.power.PlatformProfile;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Site;

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
   * What to lose. At a crash point c, the operations that are pending without the forces of the site and were not
   * pending with them are durable by that site alone. Losing just these, and keeping all else, is the state that the
   * force exists to prevent; it is tried whole, then one operation at a time, then in random subsets.
   *
   * Where to cut. After each of the site's forces (a spread of them), up to the moment from which something else covers
   * the same operations: right after it, after the promises that follow, and right before the next force of that node.
   *
   * What counts. A state that fails, while the same crash point with everything kept survives: then it was the loss.
   */

  private static final int OCCURRENCES = 10;
  private static final int PROMISES_AFTER = 4;
  private static final int ALONE = 8;
  private static final int SUBSETS = 6;

  private final Supplier<CrashSubject<S>> subjects;
  private final CrashSubject<S> subject;
  private final List<Recording> recordings;
  private final long seed;
  private final int workers;
  private final Duration budget;
  private final long begun = System.nanoTime();

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
   */
  public List<CoverageRow> run() {
    SortedMap<Site, List<Forces>> sites = reached();
    SortedMap<Site, CoverageRow> rows = new ConcurrentSkipListMap<>();
    List<Site> order = new ArrayList<>(sites.keySet());
    AtomicInteger next = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      threads.add(
          Thread.ofPlatform()
              .daemon()
              .name("force coverage " + i)
              .start(() -> {
                StateChecker<S> checker = new StateChecker<>(subjects, /* resume= */ true);
                for (int n; (n = next.getAndIncrement()) < order.size(); ) {
                  Site site = order.get(n);
                  rows.put(site, new Mutation(site, sites.get(site), checker).row());
                }
              }));
    }
    threads.forEach(ForceCoverage::await);
    List<CoverageRow> result = new ArrayList<>(rows.values());
    for (CallSite site : unreached(sites.keySet())) {
      Site unknown = new Site(site.className(), site.method(), site.line(), "never reached");
      result.add(new CoverageRow(unknown, 0, 0, ""));
    }
    return result;
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
      NodePaths paths = new NodePaths(recording.trace());
      Map<Site, List<Operation.Force>> here = new HashMap<>();
      for (Operation operation : recording.trace().operations()) {
        if (operation instanceof Operation.Force force) {
          here.computeIfAbsent(siteOf(force, paths), s -> new ArrayList<>()).add(force);
        }
      }
      here.forEach((site, forces) ->
          sites.computeIfAbsent(site, s -> new ArrayList<>()).add(new Forces(recording, forces)));
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

  private boolean timeIsUp() {
    return System.nanoTime() - begun > budget.toNanos();
  }

  /** One place without its forces. */
  private final class Mutation {

    private final Site site;
    private final List<Forces> all;
    private final StateChecker<S> checker;
    private final Random random;
    private long states;

    Mutation(Site site, List<Forces> all, StateChecker<S> checker) {
      this.site = site;
      this.all = all;
      this.checker = checker;
      this.random = new Random(seed ^ site.hashCode());
    }

    CoverageRow row() {
      int count = all.stream().mapToInt(forces -> forces.forces.size()).sum();
      String found = "";
      for (Forces forces : all) {
        if (!found.isEmpty() || timeIsUp()) {
          break;
        }
        found = mutate(forces);
      }
      return new CoverageRow(site, count, states, found);
    }

    private String mutate(Forces forces) {
      Set<Long> dropped =
          forces.forces.stream().map(Operation.Force::seq).collect(Collectors.toSet());
      Predicate<Operation.Force> drop = force -> dropped.contains(force.seq());
      PlatformProfile profile = PlatformProfile.STRICT_POSIX;
      PowerCut with = new PowerCut(forces.recording.trace(), profile.rules());
      PowerCut without = new PowerCut(forces.recording.trace(), profile.rules(), drop);
      for (Operation.Force force : spread(forces.forces)) {
        for (long point : points(forces.recording, force)) {
          List<Operation> lost = new ArrayList<>(without.pending(point));
          lost.removeAll(with.pending(point));
          String found = lost.isEmpty() ? "" : lose(forces.recording, without, point, lost);
          if (!found.isEmpty() || timeIsUp()) {
            return found;
          }
        }
      }
      return "";
    }

    private List<Operation.Force> spread(List<Operation.Force> forces) {
      if (forces.size() <= OCCURRENCES) {
        return forces;
      }
      List<Operation.Force> chosen = new ArrayList<>();
      for (int i = 0; i < OCCURRENCES; i++) {
        chosen.add(forces.get((int) ((long) i * (forces.size() - 1) / (OCCURRENCES - 1))));
      }
      return chosen;
    }

    private SortedSet<Long> points(Recording recording, Operation.Force force) {
      SortedSet<Long> points = new TreeSet<>();
      points.add(force.seq() + 1);
      long last = recording.end();
      for (Operation operation : recording.trace().operations()) {
        if (operation instanceof Operation.Force later
            && later.seq() > force.seq()
            && later.node() == force.node()) {
          last = later.seq();
          break;
        }
      }
      points.add(last);
      int after = 0;
      for (long place : recording.promises().places()) {
        if (place > force.seq() && place < last && after < PROMISES_AFTER) {
          points.add(place + 1);
          after++;
        }
      }
      return points;
    }

    private String lose(Recording recording, PowerCut cut, long point, List<Operation> lost) {
      List<List<Operation>> choices = new ArrayList<>();
      choices.add(lost);
      if (lost.size() > 1) {
        List<Operation> shuffled = new ArrayList<>(lost);
        Collections.shuffle(shuffled, random);
        shuffled.stream().limit(ALONE).forEach(operation -> choices.add(List.of(operation)));
        for (int i = 0; i < SUBSETS; i++) {
          List<Operation> some = lost.stream().filter(o -> random.nextBoolean()).toList();
          if (!some.isEmpty()) {
            choices.add(some);
          }
        }
      }
      for (List<Operation> choice : choices) {
        CrashState state = cut.state(point, Losses.of(choice));
        states++;
        StateResult result = checker.check(state.image(), recording.promises(), point);
        if (!result.survived() && survivesWhole(recording, cut, point)) {
          return "%s, %s (crash point %d, %d of %d lost)"
              .formatted(result.verdict(), result.summary(), point, choice.size(), lost.size());
        }
      }
      return "";
    }

    private boolean survivesWhole(Recording recording, PowerCut cut, long point) {
      CrashState whole = cut.state(point, Losses.none());
      return checker.check(whole.image(), recording.promises(), point).survived();
    }
  }
}
