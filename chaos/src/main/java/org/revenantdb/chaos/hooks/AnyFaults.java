package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.fault.FaultPoint;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.FaultCase;
import org.revenantdb.chaos.run.FaultLife;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * Lives with a fault in forked JVMs with hooks, each on a directory of its own. One tape is used
 * for all of them.
 *
 * <p>Threads: one.
 */
final class AnyFaults implements FaultLife.Source {

  private final Class<?> subject;
  private final long seed;
  private final Duration limit;
  private final List<String> flags;
  private final Path scratch;
  private final Path file;
  private final Tape tape;
  private int count;

  AnyFaults(
      Class<?> subject, long seed, Duration limit, List<String> flags, Path scratch, Path images)
      throws IOException {
    this.subject = subject;
    this.seed = seed;
    this.limit = limit;
    this.flags = flags;
    this.scratch = scratch;
    this.file = images.resolve("faults.tape");
    this.tape = HookedLives.newTape(file);
  }

  /**
   * Lives once without a fault, and counts where faults are possible.
   *
   * @return a count for each kind of fault, or why there is none
   * @throws IOException if a file cannot be written
   */
  Counted count() throws IOException {
    HookedLives lives = lives();
    lives.live(HookedMain.COUNT, seed, 1, Long.MAX_VALUE);
    String unmeasured = lives.unsupported() + lives.lost();
    if (!unmeasured.isEmpty()) {
      return new Counted(Map.of(), Verdict.NOT_MEASURED, unmeasured);
    }
    return lives.complaint().isEmpty()
        ? new Counted(Faults.counts(tape), Verdict.SURVIVED, "")
        : new Counted(
            Map.of(), Verdict.HARNESS_BROKEN, "in a life without faults: " + lives.complaint());
  }

  /**
   * Where faults are possible.
   *
   * @param possible a count for each kind of fault
   * @param verdict {@link Verdict#SURVIVED} if they could be counted
   * @param reason why not; empty if they were
   */
  record Counted(Map<FaultKind, Long> possible, Verdict verdict, String reason) {}

  private HookedLives lives() throws IOException {
    Path former = scratch.resolve("life" + count);
    if (Files.exists(former)) {
      FileTrees.delete(former);
    }
    Path directory = Files.createDirectory(scratch.resolve("life" + ++count));
    return new HookedLives(subject, limit, flags, directory, file, tape);
  }

  @Override
  public FaultLife begin(FaultCase fault) throws IOException {
    if (fault.injector().get() instanceof FaultPoint.Injector injector) {
      return new Life(lives(), injector.point());
    }
    throw new IllegalArgumentException("hooks have only the faults of the catalogue: " + fault);
  }

  /** One life with a fault, and the one after it. */
  private final class Life implements FaultLife {

    private final HookedLives lives;
    private final FaultPoint point;
    private PromiseLog log = new PromiseLog();
    private long end;

    Life(HookedLives lives, FaultPoint point) {
      this.lives = lives;
      this.point = point;
    }

    @Override
    public Lived live() throws IOException {
      lives.live(point.kind() + " " + point.nth(), seed, 1, Long.MAX_VALUE);
      TraceBuilder built = lives.built(-1);
      log = PromiseLog.of(built.promises()).madeIn(built.madeIn());
      boolean hangs = lives.stalled();
      String unmeasured = hangs ? lives.lost() : unmeasured(built);
      return new Lived(
          tape.strikes() > 0,
          built.struckIn(),
          tape.struckAt(),
          hangs,
          lives.complaint(),
          /* thrown= */ null,
          /* broken= */ "",
          unmeasured);
    }

    /** Why the trace does not show what happened; empty if it does. */
    private String unmeasured(TraceBuilder built) throws IOException {
      Trace trace = built.trace();
      end =
          1 + trace.operations().stream().mapToLong(Operation::seq).reduce(lives.last(), Math::max);
      if (!lives.unsupported().isEmpty()) {
        return lives.unsupported();
      }
      String lost = lives.lost();
      if (!lost.isEmpty()) {
        return lost;
      }
      if (built.cleanedInPart()) {
        return "the fault struck a force of a part of a file whose other parts had changes; which"
            + " pages count as written then is not modelled";
      }
      return trace.gaps().isEmpty()
          ? lives.differences(trace, end)
          : "not all file operations of the store can be recorded: " + trace.gaps().getFirst();
    }

    @Override
    public DiskImage left() throws IOException {
      return lives.left();
    }

    @Override
    public PromiseLog promises() {
      return log;
    }

    @Override
    public long now() {
      return end;
    }

    @Override
    public LivedOn liveOn() throws IOException {
      lives.live(HookedMain.AFTER, seed, 1, Long.MAX_VALUE);
      TraceBuilder built = lives.built(-1);
      Trace trace = built.trace();
      String unmeasured = lives.stalled() ? lives.lost() : unmeasured(built);
      return new LivedOn(
          lives.complaint(),
          /* failure= */ null,
          trace,
          built.laterFrom() == Long.MAX_VALUE
              ? null
              : PromiseLog.of(built.laterPromises()).madeIn(built.madeIn()),
          built.laterFrom(),
          end,
          unmeasured);
    }
  }
}
