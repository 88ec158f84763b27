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
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.ImageChecker;
import org.revenantdb.chaos.run.LossControl;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * Records lives of a subject that uses a real directory by any means. The lives run in a forked JVM
 * with native hooks.
 *
 * <p>The recording is {@link Verdict#NOT_MEASURED} if the platform cannot do it, if something could
 * not be recorded, and if the model of the directory ever differs from the directory.
 *
 * <p>Threads: one.
 */
public final class AnyRecorder implements AutoCloseable {

  private static final long TAPE = Long.getLong("revenant.chaos.tape", 64L << 20);
  private static final Duration GLANCE = Duration.ofMillis(100);
  private static final int PAGE = 4096;

  private final Class<?> subject;
  private final long seed;
  private final int lives;
  private final Duration limit;
  private final List<String> flags;
  private final Path scratch;
  private final Path images;
  private int controls;
  private @Nullable Workers workers;

  /**
   * Creates a recorder.
   *
   * @param subject class of the subject
   * @param seed of the first life; each further one has the next
   * @param lives the number of times the store is opened, worked with and closed, 1 or more
   * @param limit the time limit of each step
   * @param flags further flags of the forked JVMs
   * @param scratch an existing directory for the files of this recorder
   * @throws IOException if a directory cannot be created
   */
  public AnyRecorder(
      Class<?> subject, long seed, int lives, Duration limit, List<String> flags, Path scratch)
      throws IOException {
    this.subject = subject;
    this.seed = seed;
    this.lives = lives;
    this.limit = limit;
    this.flags = List.copyOf(flags);
    this.scratch = scratch.toRealPath();
    // Images are written and deleted by the thousand; a disk in memory does not wear.
    Path memory = Path.of("/dev/shm");
    this.images =
        Files.isDirectory(memory) && Files.isWritable(memory)
            ? Scratch.directory(memory, "revenant-images")
            : Scratch.directory(scratch, "images");
  }

  /**
   * Returns why this platform cannot record native file functions.
   *
   * @return a sentence, or an empty text if it can
   */
  public static String missing() {
    String os = System.getProperty("os.name");
    String arch = System.getProperty("os.arch");
    if (!os.equals("Linux") || !(arch.equals("amd64") || arch.equals("aarch64"))) {
      return "files = ANY needs Linux on x86-64 or aarch64, and this is %s on %s; files = PATH works here"
          .formatted(os, arch);
    }
    return "";
  }

  /** How many times the model was compared with the directory, and was equal. */
  public int controls() {
    return controls;
  }

  /**
   * Records the lives, and makes the controls.
   *
   * @return the recording, usable or with the reason why not
   * @throws IOException if a file of this recorder cannot be written
   */
  public Recording record() throws IOException {
    String missing = missing();
    if (!missing.isEmpty()) {
      return unusable(Verdict.NOT_MEASURED, missing);
    }
    Lives whole = new Lives("recorded");
    whole.live(lives, /* killAt= */ Long.MAX_VALUE);
    TraceBuilder built = new TraceBuilder(whole.tape, whole.directory.toString(), -1).read();
    Trace trace = built.trace();
    PromiseLog log = PromiseLog.of(built.promises());
    // A thread of the store may do something behind the last control.
    long end =
        1 + trace.operations().stream().mapToLong(Operation::seq).reduce(whole.last, Math::max);
    Recording recording = new Recording(trace, log, Verdict.SURVIVED, "", end);
    String lost = whole.lost();
    if (!whole.unsupported.isEmpty()) {
      return unusable(Verdict.NOT_MEASURED, whole.unsupported);
    } else if (!lost.isEmpty()) {
      return unusable(Verdict.NOT_MEASURED, lost);
    } else if (!trace.gaps().isEmpty()) {
      return unusable(
          Verdict.NOT_MEASURED,
          "not all file operations of the store can be recorded: " + trace.gaps().getFirst());
    } else if (!whole.complaint.isEmpty()) {
      return unusable(Verdict.HARNESS_BROKEN, whole.complaint);
    } else if (log.answerCount(Long.MAX_VALUE) == 0) {
      return unusable(Verdict.HARNESS_BROKEN, LossControl.PROMISED_NOTHING);
    }
    String different = whole.differences(trace, end);
    if (different.isEmpty() && trace.operations().isEmpty()) {
      return unusable(
          Verdict.HARNESS_BROKEN, "the store did nothing to the directory it was given");
    }
    if (different.isEmpty()) {
      different = killed(whole.tape.operations() / lives);
    }
    if (!different.isEmpty()) {
      return unusable(Verdict.NOT_MEASURED, different);
    }
    String complaint = complaint(recording, whole.left());
    return complaint.isEmpty() ? recording : unusable(Verdict.HARNESS_BROKEN, complaint);
  }

  private static Recording unusable(Verdict verdict, String reason) {
    Trace nothing = new Trace(new DiskImage(), List.of(), List.of(), List.of());
    return new Recording(nothing, new PromiseLog(), verdict, reason, 1);
  }

  /**
   * Returns checkers for images of a recording.
   *
   * @param recording made by this recorder
   * @return creates a checker for each thread
   * @throws IOException if the promises cannot be written
   */
  public Workers workers(Recording recording) throws IOException {
    Workers made = workers;
    if (made == null) {
      made = new Workers(subject, recording.promises(), images, flags, limit);
      workers = made;
    }
    return made;
  }

  /** A life of its own is killed, and the model must equal what it leaves. */
  private String killed(long operations) throws IOException {
    Lives life = new Lives("killed");
    long at = new SplittableRandom(seed).nextLong(1, Math.max(2, operations));
    life.live(1, at);
    String lost = life.lost();
    if (!life.complaint.isEmpty() || !life.unsupported.isEmpty() || !lost.isEmpty()) {
      return "the life for the control with a kill: " + life.complaint + life.unsupported + lost;
    }
    TraceBuilder built = life.built(-1);
    String different = life.difference(built, life.left(), built.mappedPaths());
    long length = built.inFlight();
    // What the kill interrupted may have been carried out, a write also in part.
    for (long done = 0; !different.isEmpty() && done <= length; ) {
      TraceBuilder further = life.built(done);
      String other = life.difference(further, life.left(), further.mappedPaths());
      different = other.isEmpty() ? "" : different;
      done = done == length ? length + 1 : Math.min(length, (done / PAGE + 1) * PAGE);
    }
    if (different.isEmpty()) {
      controls++;
      return "";
    }
    return "after a kill at operation " + at + ", " + different;
  }

  /** The controls of the subject: it survives if all is kept, and not if all is lost. */
  private String complaint(Recording recording, DiskImage everything) throws IOException {
    PromiseLog promises = recording.promises();
    try (ImageChecker checker = workers(recording).get()) {
      StateResult kept = checker.check(everything, promises, recording.end());
      if (!kept.survived()) {
        Throwable failure = kept.failure();
        return "the subject's own check does not hold on an intact disk: "
            + kept.summary()
            + (failure == null ? "" : "\n" + CallStack.text(failure));
      }
      boolean seesLoss =
          LossControl.seesLoss(
              promises,
              recording.end(),
              crash -> checker.glance(new DiskImage(), promises, crash).verdict());
      return seesLoss ? "" : LossControl.COMPLAINT;
    }
  }

  @Override
  public void close() {
    Scratch.delete(images);
  }

  /** One forked JVM with its directory and its tape. */
  private final class Lives {

    final Path directory;
    final Tape tape;
    final SortedMap<Long, DiskImage> looks = new TreeMap<>();
    String unsupported = "";
    String complaint = "";
    long last;
    private final Path file;
    private boolean done;

    Lives(String name) throws IOException {
      directory = Files.createDirectory(scratch.resolve(name));
      file = images.resolve(name + ".tape");
      tape = Tape.create(file, TAPE);
    }

    void live(int count, long killAt) throws IOException {
      String phase = "the start";
      AtomicBoolean ended = new AtomicBoolean();
      try (ForkedJvm child =
          ForkedJvm.of(HookedMain.class)
              .flags("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
              .flags("--enable-native-access=ALL-UNNAMED")
              .flags(flags.toArray(String[]::new))
              .withCodeOf(subject)
              .stallLimit(limit)
              .argument(subject.getName())
              .argument(directory)
              .argument(file)
              .argument(seed)
              .argument(count)
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
              case "unsupported" -> unsupported = "this process cannot be hooked: " + decoded(text);
              case "done" -> done = true;
              default -> throw new IllegalStateException("an unknown line: " + line);
            }
          }
        } finally {
          ended.set(true);
          LockSupport.unpark(watch);
        }
        int code = child.awaitEnd();
        if (!done && complaint.isEmpty() && unsupported.isEmpty() && !child.killed()) {
          complaint =
              child.stalled()
                  ? phase + " did not end within " + limit.toSeconds() + " s\n" + child.stderr()
                  : "the process ended with exit code %d in %s\n%s"
                      .formatted(code, phase, child.stderr());
        }
      }
    }

    /** Operations are signs of life, and one of them may be the last. */
    private void watch(ForkedJvm child, long killAt, AtomicBoolean ended) {
      long seen = 0;
      while (!ended.get()) {
        long now = tape.operations();
        if (now >= killAt && now != seen && tape.asked() > 0) {
          child.kill();
          return;
        }
        if (now != seen) {
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
            difference(
                model.state(look.getKey(), Losses.none()).image(), look.getValue(), Set.of());
        if (!different.isEmpty()) {
          return "at place " + look.getKey() + ", " + different;
        }
        controls++;
      }
      return "";
    }

    String difference(TraceBuilder built, DiskImage real, Set<String> adopted) {
      DiskImage model =
          new PowerCut(built.trace(), PlatformProfile.EXT4_ORDERED.rules())
              .state(Long.MAX_VALUE, Losses.none())
              .image();
      return difference(model, real, adopted);
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
              + " (a write by other means than the hooked functions?)";
    }
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
}
