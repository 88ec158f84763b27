package org.revenantdb.jmh.space;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Array;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.Claims;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.PageBitmap;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM that measures the memory, in addition to the pages, that the engine needs to update space
 * maps. Meanwhile sessions create, fill and drop small tables ({@link AllocationFork}), in a file
 * with a number of space maps.
 *
 * <p>It counts the objects of the engine's package {@code space}, with everything that only they
 * refer to: claims, hints, the allocator, the changes that sessions collect, the extents that trees
 * remember. It does not count the marks of pages with versions, which belong to the cleaner and
 * exist for rows; they are reported separately. Of a frame of the pool it counts the two LSNs of
 * its page's dirty and being-written state.
 *
 * <p>The file is sparse: when closed, it gets the length of one more group. The next open treats
 * that as growth whose first record was lost in a crash, and formats the map.
 *
 * <p>Arguments: directory, maps, sessions, milliseconds to warm up, milliseconds that count.
 */
public final class MapMemoryFork {
  private static final String SPACE = Claims.class.getPackageName() + ".";

  private static final Set<Class<?>> MARKS = Set.of(VersionMarks.class, PageBitmap.class);

  /** For as many pages as there are, so that no map has to leave. */
  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults().withPoolBytes(256L << 20).withMaxRecoveryLog(64 << 20);

  /**
   * One peak is chance: the window has this many parts with a peak each, and their median counts.
   */
  private static final int PARTS = 10;

  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long LONGEST_WAIT = TimeUnit.SECONDS.toNanos(60);

  private final Database database;
  private final HeapWalk walk = new HeapWalk();
  private final Object allocator;
  private final Object claims;
  private final CountDownLatch end = new CountDownLatch(1);

  /** Of the allocator, with the claims, at each look. */
  private final List<Long> looks = new ArrayList<>();

  private long mostClaims;
  private volatile @Nullable Throwable failure;

  private MapMemoryFork(Database database) throws Exception {
    this.database = database;
    Set<Object> ours = walk.ours(database);
    allocator = only(ours, Allocator.class);
    claims = only(ours, Claims.class);
    walk.count();
  }

  private static Object only(Set<Object> objects, Class<?> type) {
    List<Object> found = objects.stream().filter(type::isInstance).toList();
    if (found.size() != 1) {
      throw new IllegalStateException(found.size() + " objects of " + type);
    }
    return found.getFirst();
  }

  /**
   * Prints, in bytes, {@code = context_bytes} of a frame, {@code = frame_bytes}, the heap of the
   * pool for a frame with a page in it; {@code = space_bytes}, the median of the peaks, {@code =
   * space_peak_bytes}, the highest, {@code = claims_bytes}, the peak of the claims in it; {@code =
   * marks_bytes}, which do not count; and {@code = space_maps} that are in the pool in the end.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]).resolve("db");
    int maps = Integer.parseInt(arguments[1]);
    int sessions = Integer.parseInt(arguments[2]);
    Sessions.Times times =
        new Sessions.Times(
            Long.parseLong(arguments[3]), Long.parseLong(arguments[4]), /* warmSteps= */ 0);
    grow(directory, maps);
    try (Database database = Database.open(directory, OPTIONS)) {
      new MapMemoryFork(database).measure(maps, sessions, times);
    }
  }

  private static void grow(Path directory, int maps) throws IOException {
    Database.open(directory, OPTIONS).close();
    for (int groups = 2; groups <= maps; groups++) {
      try (RandomAccessFile data =
          new RandomAccessFile(directory.resolve("revenant.data").toFile(), "rw")) {
        data.setLength((long) groups * SpaceMapPage.GROUP * Page.SIZE);
      }
      Database.open(directory, OPTIONS).close();
    }
  }

  private void measure(int maps, int sessions, Sessions.Times times) throws Exception {
    AllocationFork.session(database, sessions).step(); // wakes the cleaner
    awaitMaps(maps);
    Thread looker = Thread.ofPlatform().daemon().unstarted(this::look);
    long[] others = new long[1];
    Sessions.run(
        sessions,
        /* virtual= */ false,
        times,
        number -> AllocationFork.session(database, number),
        looker::start,
        () -> {
          end.countDown();
          others[0] = others(looker);
        });
    Throwable thrown = failure;
    if (thrown != null) {
      throw new IllegalStateException("the heap could not be looked at", thrown);
    }
    Told.tell("space_bytes", medianPeak(looks) + others[0]);
    Told.tell(
        "space_peak_bytes",
        (double) (looks.stream().mapToLong(it -> it).max().orElseThrow() + others[0]));
    Told.tell("claims_bytes", (double) mostClaims);
    tellFrames();
    Told.tell("space_maps", (double) mapsInPool());
  }

  private static boolean isCounted(Class<?> type) {
    return type.getName().startsWith(SPACE) && !MARKS.contains(type);
  }

  /** The cleaner looks at all space maps once, soon after the database was opened. */
  private void awaitMaps(int maps) throws IllegalAccessException {
    long start = System.nanoTime();
    while (mapsInPool() < maps) {
      if (System.nanoTime() - start > LONGEST_WAIT) {
        throw new IllegalStateException("not all space maps come into the pool");
      }
      Thread.onSpinWait();
    }
  }

  /** By their places: a statistic counts lists of extents as well. */
  private long mapsInPool() throws IllegalAccessException {
    return walk.ours(database).stream()
        .filter(it -> it instanceof Stay stay && !stay.isObsolete())
        .mapToInt(it -> ((Stay) it).pageId())
        .filter(page -> page % SpaceMapPage.GROUP == SpaceMapPage.POSITION)
        .distinct()
        .count();
  }

  private void look() {
    try {
      do {
        looks.add(walk.bytes(List.of(allocator), MapMemoryFork::isCounted));
        mostClaims = Math.max(mostClaims, walk.bytes(List.of(claims), MapMemoryFork::isCounted));
      } while (!end.await(PERIOD_NANOS, TimeUnit.NANOSECONDS));
    } catch (Throwable thrown) {
      failure = thrown;
    }
  }

  /** What does not hang from the allocator, while the sessions are still at work. */
  private long others(Thread looker) {
    try {
      looker.join();
      walk.count();
      Set<Object> counted = walk.ours(database);
      counted.removeIf(it -> !isCounted(it.getClass()));
      List<Object> changes = counted.stream().filter(MapChanges.class::isInstance).toList();
      long missing = Math.max(0, walk.alive(MapChanges.class) - changes.size());
      long ofOne = walk.bytes(List.of(changes.getFirst()), MapChanges.class::equals);
      Set<Object> all = walk.reach(counted, MapMemoryFork::isCounted);
      all.removeAll(walk.reach(List.of(allocator), MapMemoryFork::isCounted));
      return walk.bytes(all) + missing * ofOne; // those on the stack of a session alone
    } catch (Exception thrown) {
      failure = thrown;
      return 0;
    }
  }

  /** The median of the highest of each part. */
  static double medianPeak(List<Long> looks) {
    if (looks.size() < PARTS) {
      throw new IllegalStateException("no more than " + looks.size() + " looks");
    }
    double[] peaks = new double[PARTS];
    for (int part = 0; part < PARTS; part++) {
      peaks[part] =
          looks.subList(part * looks.size() / PARTS, (part + 1) * looks.size() / PARTS).stream()
              .mapToLong(it -> it)
              .max()
              .orElseThrow();
    }
    Arrays.sort(peaks);
    return (peaks[(PARTS - 1) / 2] + peaks[PARTS / 2]) / 2;
  }

  private void tellFrames() throws Exception {
    Set<Object> ours = walk.ours(database);
    Object block = anyOf(ours, "org.revenantdb.engine.buffer.Frames$Block");
    Object stay = anyOf(ours, "org.revenantdb.engine.buffer.Stay");
    double dirtiness = ofFrame(block, "firstLsns") + ofFrame(block, "flushing");
    Told.tell("context_bytes", dirtiness);
    Told.tell(
        "frame_bytes",
        dirtiness
            + ofFrame(block, "stays")
            + ofFrame(block, "conditions")
            + walk.shallow(stay)
            + walk.shallow(HeapWalk.field(stay, "page")));
    Object marks = only(ours, VersionMarks.class);
    Told.tell("marks_bytes", (double) walk.bytes(List.of(marks), MARKS::contains));
  }

  private static Object anyOf(Set<Object> objects, String type) {
    return objects.stream()
        .filter(it -> it.getClass().getName().equals(type))
        .findAny()
        .orElseThrow(() -> new IllegalStateException("no object of " + type));
  }

  /** An array has a place for each of the frames of its block. */
  private double ofFrame(Object block, String array) throws Exception {
    Object places = HeapWalk.field(block, array);
    return (double) walk.shallow(places) / Array.getLength(places);
  }
}
