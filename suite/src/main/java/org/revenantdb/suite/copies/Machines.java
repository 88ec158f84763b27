package org.revenantdb.suite.copies;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.power.CrashPlan;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.CrashStates;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;
import org.revenantdb.chaos.trace.TraceClock;
import org.revenantdb.suite.model.ModelFailure;

/**
 * Machines whose disks are recorded with one clock, so that all of them can be stopped at one
 * moment.
 *
 * <p>Threads: one; the recorded disks may be used by any.
 */
final class Machines {

  private final TraceClock clock = new TraceClock();
  private final Map<Machine, RecordingFileSystem> disks = new EnumMap<>(Machine.class);

  private Machines() {}

  /** Machines with empty disks in memory. */
  static Machines start() throws IOException {
    Machines machines = new Machines();
    for (Machine machine : Machine.values()) {
      Path directory =
          Files.createDirectory(
              MemoryFileSystem.of(new DiskImage())
                  .root()
                  .resolve(machine.name().toLowerCase(Locale.ROOT)));
      machines.disks.put(
          machine, RecordingFileSystem.over(directory).clock(machines.clock).stacks(false).start());
    }
    return machines;
  }

  TraceClock clock() {
    return clock;
  }

  /** A path on a machine. */
  Path path(Machine machine, String name) {
    return disk(machine).directory().resolve(name);
  }

  private RecordingFileSystem disk(Machine machine) {
    return Objects.requireNonNull(disks.get(machine));
  }

  /**
   * Stops the machines, when nothing works on their disks. At each moment one of them loses what
   * the profile allows. Each of the others is only killed, or loses whole operations.
   *
   * @param wanted at most so many moments
   * @param preferred moments right after these places are preferred
   * @param from the first moment
   */
  Iterator<Crashed> crashes(
      PlatformProfile profile,
      RandomGenerator random,
      int wanted,
      List<Long> preferred,
      long from) {
    Map<Machine, Trace> traces = new EnumMap<>(Machine.class);
    disks.forEach((machine, disk) -> traces.put(machine, sound(machine, disk.trace())));
    List<Machine> working =
        traces.entrySet().stream()
            .filter(one -> !one.getValue().operations().isEmpty())
            .map(Map.Entry::getKey)
            .toList();
    Machine first = working.get(random.nextInt(working.size()));
    Map<Machine, PowerCut> others = new EnumMap<>(Machine.class);
    traces.forEach((machine, trace) -> {
      if (machine != first) {
        others.put(machine, new PowerCut(trace, profile.rules()));
      }
    });
    CrashStates states =
        new CrashStates(
            Objects.requireNonNull(traces.get(first)),
            profile.rules(),
            CrashPlan.of(random.nextLong(), wanted).preferring(preferred).from(from));
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return states.hasNext();
      }

      @Override
      public Crashed next() {
        return crashed(first, states.next(), others, random);
      }
    };
  }

  private static Trace sound(Machine machine, Trace trace) {
    if (!trace.gaps().isEmpty() || !trace.escapes().isEmpty()) {
      throw new ModelFailure(machine + ": " + trace.gaps() + trace.escapes());
    }
    return trace;
  }

  private static Crashed crashed(
      Machine first, CrashState state, Map<Machine, PowerCut> others, RandomGenerator random) {
    Map<Machine, Path> roots = new EnumMap<>(Machine.class);
    roots.put(first, root(state));
    StringBuilder story = new StringBuilder(first + ", " + state.losses().story());
    boolean isCut = !state.losses().isEmpty();
    for (Map.Entry<Machine, PowerCut> other : others.entrySet()) {
      List<Operation> lost = new ArrayList<>();
      if (random.nextBoolean()) {
        for (Operation pending : other.getValue().pending(state.seq())) {
          if (random.nextBoolean()) {
            lost.add(pending);
          }
        }
      }
      CrashState beside = other.getValue().state(state.seq(), Losses.of(lost));
      isCut |= !beside.losses().isEmpty();
      story.append('\n').append(other.getKey()).append(", ").append(beside.losses().story());
      roots.put(other.getKey(), root(beside));
    }
    return new Crashed(state.seq(), isCut, roots, story.toString());
  }

  private static Path root(CrashState state) {
    return MemoryFileSystem.of(state.image()).root();
  }
}
