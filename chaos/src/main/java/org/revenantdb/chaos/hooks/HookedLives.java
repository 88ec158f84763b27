package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.trace.Trace;

/**
 * Lives of a subject in forked JVMs with hooks, on one directory and one tape.
 *
 * <p>Threads: one.
 */
final class HookedLives {

  private static final long TAPE = Long.getLong("revenant.chaos.tape", 64L << 20);
  private static final Duration GLANCE = Duration.ofMillis(100);
  private static final int PAGE = 4096;
  private static final int MOST_PRINTED = 2000;

  private final Class<?> subject;
  private final Duration limit;
  private final List<String> flags;
  private final Path directory;
  private final Tape tape;
  private final SortedMap<Long, DiskImage> looks = new TreeMap<>();
  private final Path file;
  private final List<Long> durations = new ArrayList<>();
  private String unsupported = "";
  private String complaint = "";
  private String printed = "";
  private boolean stalled;
  private long last;
  private int equal;
  private boolean done;

  /**
   * Prepares lives; nothing happens yet.
   *
   * @param directory an empty directory, a real path
   * @param file the file of the tape
   * @param tape is emptied
   */
  HookedLives(
      Class<?> subject, Duration limit, List<String> flags, Path directory, Path file, Tape tape) {
    this.subject = subject;
    this.limit = limit;
    this.flags = flags;
    this.directory = directory;
    this.file = file;
    this.tape = tape;
    tape.reset();
  }

  /** Makes a tape. */
  static Tape newTape(Path file) throws IOException {
    return Tape.create(file, TAPE);
  }

  /**
   * Runs lives in a JVM.
   *
   * @param mode one of {@link HookedMain}
   * @param killAt the number of operations at which it is killed
   */
  void live(String mode, long seed, int count, long killAt) throws IOException {
    String phase = "the start";
    unsupported = "";
    complaint = "";
    printed = "";
    done = false;
    AtomicBoolean ended = new AtomicBoolean();
    try (ForkedJvm child =
        ForkedJvm.of(HookedMain.class)
            .flags("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
            .flags("--enable-native-access=ALL-UNNAMED")
            .flags(flags.toArray(String[]::new))
            .withCodeOf(subject)
            .passProperties()
            .stallLimit(limit)
            .argument(subject.getName())
            .argument(directory)
            .argument(file)
            .argument(seed)
            .argument(count)
            .argument(mode)
            .fork()) {
      Thread watch =
          Thread.ofPlatform()
              .daemon()
              .name("watch of a hooked JVM")
              .start(() -> watch(child, killAt, ended));
      try {
        for (String line; (line = child.readLine()) != null; ) {
          String[] parts = line.split("\t", 2);
          String text = parts.length > 1 ? parts[1] : "";
          switch (parts[0]) {
            case "phase" -> phase = text;
            case "control" -> look(Long.parseLong(text));
            case "no control" -> looks.remove(Long.parseLong(text));
            case "failed" -> complaint = complaint.isEmpty() ? decoded(text) : complaint;
            case "unsupported" -> unsupported = "this process cannot be recorded: " + decoded(text);
            case "worked" -> durations.add(Long.parseLong(text));
            case "done" -> done = true;
            default -> text(line);
          }
        }
      } finally {
        ended.set(true);
        LockSupport.unpark(watch);
      }
      int code = child.awaitEnd();
      Files.deleteIfExists(HookedMain.ofTrial(file));
      stalled = child.stalled();
      if (!done && complaint.isEmpty() && unsupported.isEmpty() && !child.killed()) {
        complaint =
            child.stalled()
                ? phase + " did not end within " + limit.toSeconds() + " s\n" + child.stderr()
                : "the process ended with exit code %d in %s\n%s"
                    .formatted(code, phase, printed + child.stderr());
      }
    }
  }

  /** A line that no code of ours wrote: a JVM that crashes explains itself there. */
  private void text(String line) {
    if (printed.length() < MOST_PRINTED) {
      printed += line + "\n";
    }
  }

  /**
   * Operations are signs of life, and one of them may be the last. A refused operation counts for a
   * moment before it is taken back, so only a number that was never there before is a sign.
   */
  private void watch(ForkedJvm child, long killAt, AtomicBoolean ended) {
    long seen = 0;
    while (!ended.get()) {
      long now = tape.operations();
      if (now >= killAt && now > seen && tape.asked() > 0) {
        child.kill();
        return;
      }
      if (now > seen) {
        child.seenAtWork();
        seen = now;
      }
      LockSupport.parkNanos(killAt == Long.MAX_VALUE ? GLANCE.toNanos() : 200_000);
    }
  }

  private void look(long place) throws IOException {
    last = place;
    looks.put(place, DiskImage.of(directory));
    tape.answer(tape.asked());
  }

  DiskImage left() throws IOException {
    return DiskImage.of(directory);
  }

  String lost() {
    if ((tape.lost() & Tape.FULL) != 0) {
      return "the lives made more file operations than the record of %d MiB holds; make their work shorter, or set -Drevenant.chaos.tape to more bytes"
          .formatted(TAPE >> 20);
    }
    return (tape.lost() & Tape.FAILED) == 0
        ? ""
        : "a file operation could not be recorded, because memory or stack was exhausted or a hook failed";
  }

  TraceBuilder built(long finish) {
    return new TraceBuilder(tape, directory.toString(), finish).read();
  }

  /** Compares the model with every look at the directory, and with the end. */
  String differences(Trace trace, long end) throws IOException {
    looks.put(end, left());
    PowerCut model = new PowerCut(trace, PlatformProfile.EXT4_ORDERED.rules());
    for (Map.Entry<Long, DiskImage> look : looks.entrySet()) {
      String different =
          difference(model.state(look.getKey(), Losses.none()).image(), look.getValue(), Set.of());
      if (!different.isEmpty()) {
        return "at place " + look.getKey() + ", " + different;
      }
      equal++;
    }
    return "";
  }

  String difference(TraceBuilder built, DiskImage real, Set<String> adopted) {
    return difference(PowerCut.whole(built.trace()), real, adopted);
  }

  private String difference(DiskImage model, DiskImage real, Set<String> adopted) {
    SortedMap<String, Integer> ours = model.paths();
    SortedMap<String, Integer> theirs = real.paths();
    List<String> found = new ArrayList<>();
    for (String path : theirs.keySet()) {
      if (!ours.containsKey(path)) {
        found.add("the directory has " + path + ", and the trace does not");
      }
    }
    for (Map.Entry<String, Integer> entry : ours.entrySet()) {
      Integer node = theirs.get(entry.getKey());
      if (node == null) {
        found.add("the trace has " + entry.getKey() + ", and the directory does not");
      } else if (!model.isDirectory(entry.getValue()) && !real.isDirectory(node)) {
        FileContent expected = model.file(entry.getValue());
        FileContent content = real.file(node);
        long at = adopted.contains(entry.getKey()) ? -1 : mismatch(expected, content);
        if (at >= 0 || expected.size() != content.size()) {
          found.add(
              "%s differs from the trace: %d bytes instead of %d, first different byte %d"
                  .formatted(entry.getKey(), content.size(), expected.size(), at));
        }
      }
    }
    return found.isEmpty()
        ? ""
        : "the trace is not what happened: "
            + found.getFirst()
            + " (a write by other means than the recorded functions?)";
  }

  private static long mismatch(FileContent one, FileContent other) {
    long size = Math.min(one.size(), other.size());
    for (long at = 0; at < size; at += PAGE) {
      int length = (int) Math.min(PAGE, size - at);
      int different = Arrays.mismatch(one.bytes(at, length), other.bytes(at, length));
      if (different >= 0) {
        return at + different;
      }
    }
    return one.size() == other.size() ? -1 : size;
  }

  private static String decoded(String text) {
    return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
  }

  String unsupported() {
    return unsupported;
  }

  String complaint() {
    return complaint;
  }

  /** Whether the last life did not end. */
  boolean stalled() {
    return stalled;
  }

  /** The place of the last look. */
  long last() {
    return last;
  }

  /** How many looks were equal to the model. */
  int equal() {
    return equal;
  }

  /** How long the works took whose duration was measured, in nanoseconds. */
  List<Long> durations() {
    return durations;
  }

  long operations() {
    return tape.operations();
  }

  Tape tape() {
    return tape;
  }
}
