package org.revenantdb.chaos.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.DeadFrom;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Trace;

/**
 * Runs a subject on an intact disk in memory and records it. Crash states are built from the
 * recording.
 *
 * <p>Each life opens the store, works, and closes it. Afterwards the subject's own check must
 * succeed on the files and fail on an empty directory. If it does not, the subject shows nothing
 * about crashes and is {@link Verdict#HARNESS_BROKEN}.
 *
 * <p>In one of three lives, chosen by the seed, forces are {@linkplain
 * RecordingFileSystem.Builder#slowForces(long, java.util.function.BooleanSupplier) slow}, for the
 * races of stores with several threads.
 *
 * @param <S> the open store
 */
public final class LifeRecorder<S> {

  /**
   * Thrown by java.io, and by no file system in memory; or a frame of a stack that opens a file or
   * calls java.io.File. Such a frame may be anywhere: the JDK checks and converts paths below it,
   * and its exception may be the cause of another one.
   */
  private static final Pattern FILE_API =
      Pattern.compile(
          "java\\.io\\.(FileNotFoundException"
              + "|(FileInputStream|FileOutputStream|RandomAccessFile)\\.<init>"
              + "|File\\.[\\w<>$]+\\()");

  private static final String TEXT_OF_A_PATH =
      "the store uses the text of its path for a java.io.File, a RandomAccessFile or native code."
          + " With files = PATH its disk is in memory, and that text stands for nothing. Use files ="
          + " ANY";

  private static final String IF_TEXT = "Perhaps ";

  /** One life in this many has slow forces. */
  private static final int SLOW = 3;

  private final Supplier<CrashSubject<S>> subjects;
  private final long seed;
  private final int lives;
  private final Duration limit;
  private final FaultInjector watching;
  private final Alone alone;

  /**
   * Creates a recorder.
   *
   * @param subjects creates subjects
   * @param seed of the first life; each further one has the next
   * @param lives the number of times the store is opened, worked with and closed, 1 or more
   * @param limit the time limit of each step
   */
  public LifeRecorder(Supplier<CrashSubject<S>> subjects, long seed, int lives, Duration limit) {
    this(subjects, seed, lives, limit, FaultInjector.NOTHING, Alone.of(subjects, limit));
  }

  private LifeRecorder(
      Supplier<CrashSubject<S>> subjects,
      long seed,
      int lives,
      Duration limit,
      FaultInjector watching,
      Alone alone) {
    this.subjects = subjects;
    this.seed = seed;
    this.lives = lives;
    this.limit = limit;
    this.watching = watching;
    this.alone = alone;
  }

  /**
   * Returns a recorder that starts other JVMs with further flags.
   *
   * @param flags each a word
   * @return another recorder
   */
  public LifeRecorder<S> jvmFlags(List<String> flags) {
    return with(Alone.of(subjects, limit, flags));
  }

  /** Returns a recorder that shares what is known of failures in a fresh JVM. */
  LifeRecorder<S> with(Alone other) {
    return new LifeRecorder<>(subjects, seed, lives, limit, watching, other);
  }

  /**
   * Returns a recorder whose operations are counted.
   *
   * @param injector sees each operation of {@link #record} and must inject nothing
   * @return another recorder
   */
  public LifeRecorder<S> watchedBy(FaultInjector injector) {
    return new LifeRecorder<>(subjects, seed, lives, limit, injector, alone);
  }

  /**
   * Records the lives.
   *
   * @return the recording, usable or with the reason why not
   * @throws IOException if the disk in memory cannot be made
   */
  public Recording record() throws IOException {
    Run run = new Run(watching, /* keep= */ true);
    TimedCall call =
        TimedCall.run("a life of the subject", limit, step -> run.liveIntact(lives, step));
    return run.recording(call.complaint(), Verdict.HARNESS_BROKEN);
  }

  /**
   * Records lives of which one ends with the death of its process. Nothing is lost, forced or not:
   * the next life opens the files and works, and what the dead process did not force is still
   * pending. The process dies at operations that change something, each time at other places in the
   * code, also inside large writes, or when its work is done. In every second recording a whole
   * life comes first.
   *
   * <p>Call it only if {@link #record} gave a usable recording. Then a failure in the life after
   * the death is the store's.
   *
   * @param recordings the number; fewer if the store changes nothing
   * @return the recordings, usable or with the reason why not
   * @throws IOException if a disk in memory cannot be made
   */
  public List<Recording> recordDeaths(int recordings) throws IOException {
    DeathPlaces places = new DeathPlaces(subjects.get());
    Run rehearsal = new Run(places, /* keep= */ false);
    TimedCall call =
        TimedCall.run("a life of the subject", limit, step -> rehearsal.liveIntact(1, step));
    if (!call.complaint().isEmpty()) {
      return List.of(rehearsal.unusable(Verdict.HARNESS_BROKEN, call.complaint()));
    }
    List<Recording> all = new ArrayList<>();
    for (DeadFrom death : places.draw(recordings, seed)) {
      all.add(recordDeath(death, /* before= */ all.size() % 2));
    }
    return all;
  }

  /**
   * Records lives of which one ends with a certain death of its process.
   *
   * @param death the death; at the latest when the work is done
   * @param before the number of whole lives before it; one life follows it
   * @return the recording, usable or with the reason why not
   * @throws IOException if the disk in memory cannot be made
   */
  public Recording recordDeath(DeadFrom death, int before) throws IOException {
    Run run = new Run();
    TimedCall call =
        TimedCall.run(
            "a life of the subject",
            limit,
            step -> {
              run.liveIntact(before, step);
              run.die(before, death, step);
            });
    if (!call.complaint().isEmpty()) {
      return run.recording(call.complaint(), Verdict.HARNESS_BROKEN);
    }
    TimedCall behind =
        TimedCall.run(
            "the life after a death",
            limit,
            step -> run.live(before + 1, ", after the death of a process", step));
    String complaint = behind.complaint();
    if (!complaint.startsWith("open ")) { // work is not the same in another JVM
      return run.recording(complaint, Verdict.CORRUPT);
    }
    return run.leaks(complaint)
        ? run.unusable(Verdict.NOT_MEASURED, Alone.LEAK_BETWEEN_LIVES + "\n" + complaint)
        : run.recording(alone.withNote(complaint), Verdict.CORRUPT);
  }

  /** Several lives on one disk. */
  private final class Run {

    private final Path directory =
        Files.createDirectory(MemoryFileSystem.apart(new DiskImage()).root().resolve("store"));
    private RecordingFileSystem disk;
    private PromiseLog log = new PromiseLog().withStacks();
    private long from;
    private volatile boolean slow;

    /** What the dead process left, before the next one opened it. */
    private @Nullable DiskImage leftByDeath;

    Run() throws IOException {
      this(FaultInjector.NOTHING, /* keep= */ true);
    }

    Run(FaultInjector watching, boolean keep) throws IOException {
      disk =
          RecordingFileSystem.over(directory)
              .faults(watching)
              .keepTrace(keep)
              .slowForces(seed, () -> slow)
              .start();
    }

    void liveIntact(int lives, TimedCall.Step step) throws Exception {
      for (int life = 0; life < lives; life++) {
        live(life, ", on an intact disk", step);
      }
    }

    void live(int life, String how, TimedCall.Step step) throws Exception {
      slow = isSlow(life);
      CrashSubject<S> subject = subjects.get();
      String which = " in life " + (life + 1) + how;
      step.now("open" + which);
      S store = subject.open(disk.directory());
      boolean worked = false;
      try {
        step.now("work" + which);
        subject.work(store, log.promises(disk.clock(), seed + life));
        worked = true;
      } finally {
        closeAfter(subject, store, worked, step, which);
      }
    }

    void die(int life, DeadFrom death, TimedCall.Step step) throws Exception {
      step.now("open or work in life " + (life + 1) + ", on an intact disk");
      slow = isSlow(life);
      disk = disk.nextProcess(death);
      new DyingLife<>(subjects.get(), death)
          .live(disk.directory(), log.promises(disk.clock(), seed + life, death::isDead));
      disk = disk.nextProcess(FaultInjector.NOTHING);
      log = log.cutOffByDeath().before(Long.MAX_VALUE).withStacks();
      from = disk.clock().next();
      leftByDeath = DiskImage.of(directory);
    }

    /** Whether the life after a death failed only because the dead process was in this JVM. */
    boolean leaks(String complaint) {
      DiskImage left = leftByDeath;
      return left != null && alone.isLeak(complaint, left, log, from);
    }

    Recording unusable(Verdict verdict, String reason) {
      Trace nothing = new Trace(new DiskImage(), List.of(), List.of(), List.of());
      return new Recording(nothing, log, verdict, reason, disk.clock().next(), from);
    }

    /** The recording, with the verdict for a complaint. */
    Recording recording(String complaint, Verdict ifAny) throws IOException {
      Trace trace = disk.trace();
      String reason = complaint;
      Verdict verdict = reason.isEmpty() ? Verdict.SURVIVED : ifAny;
      boolean text = MemoryFileSystem.isIn(complaint);
      boolean usesFiles = FILE_API.matcher(complaint).find();
      if (text && usesFiles) {
        verdict = Verdict.NOT_MEASURED;
        reason = TEXT_OF_A_PATH + "\n" + complaint;
      } else if (text || usesFiles) {
        reason = complaint + "\n" + IF_TEXT + TEXT_OF_A_PATH;
      }
      if (!trace.gaps().isEmpty()) {
        verdict = Verdict.NOT_MEASURED;
        reason = "not all file operations of the store can be recorded: " + trace.gaps().getFirst();
      } else if (!trace.escapes().isEmpty()) {
        verdict = Verdict.HARNESS_BROKEN;
        reason = "the subject writes outside its directory: " + trace.escapes().getFirst();
      } else if (verdict == Verdict.SURVIVED && log.answerCount(Long.MAX_VALUE) == 0) {
        verdict = Verdict.HARNESS_BROKEN;
        reason = LossControl.PROMISED_NOTHING;
      } else if (verdict == Verdict.SURVIVED && trace.operations().isEmpty()) {
        verdict = Verdict.HARNESS_BROKEN;
        reason = "the store did nothing to the directory it was given";
      }
      long end = disk.clock().next();
      Recording recording = new Recording(trace, log, verdict, reason, end, from);
      return recording.usable() ? controlled(recording, directory) : recording;
    }
  }

  private boolean isSlow(int life) {
    return Math.floorMod(Seeds.of(seed + life, SLOW), SLOW) == 0;
  }

  private void closeAfter(
      CrashSubject<S> subject, S store, boolean worked, TimedCall.Step step, String which)
      throws Exception {
    if (worked) {
      step.now("close" + which);
      subject.close(store);
      return;
    }
    try {
      subject.close(store);
    } catch (Exception e) { // the exception of the work is thrown already and is more useful
      step.now("work" + which);
    }
  }

  private Recording controlled(Recording recording, Path directory) throws IOException {
    Controls<S> controls = new Controls<>(subjects, limit);
    DiskImage everything = DiskImage.of(directory);
    Verdict verdict = Verdict.HARNESS_BROKEN;
    String reason = "";
    if (recording.from() == 0) {
      reason = controls.complaint(everything, recording.promises(), recording.end());
    } else {
      DiskImage equal = everything.fork();
      StateResult kept = controls.kept(everything, recording.promises(), recording.end());
      if (!kept.survived()
          && alone.isLeak(kept.signature(), equal, recording.promises(), recording.end())) {
        verdict = Verdict.NOT_MEASURED;
        reason = Alone.LEAK_BETWEEN_LIVES + "\n" + Controls.told(kept);
      } else if (!kept.survived()) {
        verdict = kept.verdict();
        reason =
            alone.withNote("the files of a dead process fail the check: " + Controls.told(kept));
      }
    }
    return reason.isEmpty()
        ? recording
        : new Recording(
            recording.trace(),
            recording.promises(),
            verdict,
            reason,
            recording.end(),
            recording.from());
  }
}
