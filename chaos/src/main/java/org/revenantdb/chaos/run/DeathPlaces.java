package org.revenantdb.chaos.run;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.fault.DeadFrom;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.trace.Site;

/**
 * The places at which the process of a subject may die, found by watching a life without a death.
 *
 * <p>The random choice is among places in the code, not among operations: a place that is passed
 * once is as interesting as one that is passed a thousand times. Every second choice is a force,
 * because unforced writes are what a death leaves to the next life. A write of several pages is cut
 * off somewhere inside.
 *
 * <p>Threads: any.
 */
final class DeathPlaces implements FaultInjector {

  private final CrashSubject<?> subject;
  private final Map<Place, Long> passes =
      new TreeMap<>(Comparator.comparing(Place::kind).thenComparing(Place::site));

  /** The kind of operation, and the place in the code. */
  private record Place(FileOperation.Kind kind, Site site) {}

  DeathPlaces(CrashSubject<?> subject) {
    this.subject = subject;
  }

  @Override
  public Fault before(FileOperation operation) {
    if (changes(operation)) {
      Place place = place(operation);
      synchronized (passes) {
        passes.merge(place, 1L, Long::sum);
      }
    }
    return Fault.NONE;
  }

  private static boolean changes(FileOperation operation) {
    return operation.kind() != FileOperation.Kind.READ
        && operation.kind() != FileOperation.Kind.OPEN;
  }

  private Place place(FileOperation operation) {
    String kind = subject.kindOf(operation.path());
    return new Place(operation.kind(), Site.of(operation.stack(), subject.seam(), kind));
  }

  /** Draws deaths, each at a place of its own as long as there are enough places. */
  List<DeadFrom> draw(int count, long seed) {
    Random random = new Random(seed);
    List<Place> forces = new ArrayList<>();
    List<Place> others = new ArrayList<>();
    synchronized (passes) {
      passes
          .keySet()
          .forEach(place -> (place.kind == FileOperation.Kind.FORCE ? forces : others).add(place));
    }
    Collections.shuffle(forces, random);
    Collections.shuffle(others, random);
    List<Place> turns = new ArrayList<>();
    for (int i = 0; i < Math.max(forces.size(), others.size()); i++) {
      turns.addAll(forces.subList(Math.min(i, forces.size()), Math.min(i + 1, forces.size())));
      turns.addAll(others.subList(Math.min(i, others.size()), Math.min(i + 1, others.size())));
    }
    List<DeadFrom> deaths = new ArrayList<>();
    for (int i = 0; i < count && !turns.isEmpty(); i++) {
      Place place = turns.get(i % turns.size());
      long pass;
      synchronized (passes) {
        pass = 1 + random.nextLong(passes.getOrDefault(place, 1L));
      }
      deaths.add(
          new DeadFrom(one -> changes(one) && place(one).equals(place), pass, Seeds.of(seed, i)));
    }
    return deaths;
  }
}
