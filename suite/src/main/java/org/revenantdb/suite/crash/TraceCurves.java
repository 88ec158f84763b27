package org.revenantdb.suite.crash;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.report.KillTimeline;
import org.revenantdb.chaos.report.KillTimeline.Event;
import org.revenantdb.chaos.report.SizeSeries;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.engine.Database;

/** Plots of a recorded life: the growth and recycling of the log, and the events around a cut. */
final class TraceCurves {

  private static final String LOG = "log";
  private static final int BEFORE = 120;

  private TraceCurves() {}

  /** The size of all files in the log directory, by operation. */
  static SizeSeries logSize(Recording life) {
    Set<Integer> directories = new HashSet<>();
    Map<Integer, Long> sizes = new HashMap<>();
    List<SizeSeries.Point> points = new ArrayList<>();
    long total = 0;
    for (Operation operation : life.trace().operations()) {
      switch (operation) {
        case Operation.Create create when create.directory() && create.name().equals(LOG) ->
            directories.add(create.node());
        case Operation.Create create when directories.contains(create.parent()) ->
            sizes.put(create.node(), 0L);
        case Operation.Write write ->
            sizes.computeIfPresent(write.node(), (node, size) -> Math.max(size, write.end()));
        case Operation.Truncate cut ->
            sizes.computeIfPresent(cut.node(), (node, size) -> cut.size());
        case Operation.Delete delete -> sizes.remove(delete.node());
        default -> {}
      }
      long now = sizes.values().stream().mapToLong(Long::longValue).sum();
      if (now != total) {
        points.add(new SizeSeries.Point(operation.seq(), total));
        points.add(new SizeSeries.Point(operation.seq(), now));
        total = now;
      }
    }
    points.add(new SizeSeries.Point(life.end(), total));
    return new SizeSeries("files of the log", SizeSeries.Along.OPERATIONS, points);
  }

  /** The operations and promises before a power cut in the middle of a life, and the recovery. */
  static KillTimeline around(Recording life) throws IOException {
    List<Long> places = life.promises().places();
    long cut = places.isEmpty() ? life.end() / 2 : places.get(places.size() / 2) + 1;
    List<Event> events = new ArrayList<>();
    events.add(new Event("phase", Math.max(1, cut - BEFORE), cut, "work"));
    for (Operation operation : life.trace().operations()) {
      if (operation.seq() < cut && operation.seq() >= cut - BEFORE) {
        events.add(event(operation, 0));
      }
    }
    for (long place : places) {
      if (place < cut && place >= cut - BEFORE) {
        events.add(Event.at("promises", place, "acknowledged at " + place));
      }
    }
    PowerCut power = new PowerCut(life.trace(), PlatformProfile.STRICT_POSIX.rules());
    Losses all = Losses.of(power.pending(cut));
    RecordingFileSystem recovery =
        RecordingFileSystem.over(MemoryFileSystem.of(power.state(cut, all).image()).root()).start();
    Database db = new MixedSubject().open(recovery.directory());
    long opened = cut + recovery.clock().now();
    db.close();
    events.add(new Event("phase", cut, opened, "recovery"));
    for (Operation operation : recovery.trace().operations()) {
      if (cut + operation.seq() <= opened) {
        events.add(event(operation, cut));
      }
    }
    return new KillTimeline(
        Crash.POWER_CUT, "a power cut that took everything unforced", List.of(cut), events);
  }

  private static Event event(Operation operation, long from) {
    String lane =
        switch (operation) {
          case Operation.Write write -> "writes";
          case Operation.Force force -> "forces";
          default -> "names and sizes";
        };
    String what = operation.getClass().getSimpleName() + " by " + operation.origin().thread();
    return Event.at(lane, from + operation.seq(), what);
  }
}
