package org.revenantdb.chaos.crash;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.revenantdb.chaos.crash.LifeReport.End;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.oracle.PromiseEvent;
import org.revenantdb.chaos.oracle.PromiseEvent.OfGroup;
import org.revenantdb.chaos.oracle.PromiseEvent.OfWrite;
import org.revenantdb.chaos.oracle.PromiseEvent.Single;
import org.revenantdb.chaos.oracle.PromiseEvent.Step;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Subjects;
import org.revenantdb.chaos.subject.Verdict;

/**
 * One store and the sequence of lives in its directory. Each life is checked against the promises
 * of the lives before it.
 *
 * <pre>
 *   home/arena/store   the directory under test; anything else in the arena is an escape
 *   home/before        the files as they were before the last life
 *   home/temporary     java.io.tmpdir of the children
 *   home/N.*           ledger, promises and settled promises of life N
 * </pre>
 *
 * <p>Threads: one.
 */
final class StoreLine {

  private static final String STORE = "store";

  /** Repetitions, each a process: random answers of a subject seldom stay the same. */
  private static final int LOOKS = 2;

  private final Class<?> subject;

  /** Whether the death of a process takes no lazy commit back. Beside a zombie it may. */
  private final boolean keepsLazy;

  private final Options options;
  private final DeathTally tally;
  private final Path home;
  private final Path arena;
  private final Path store;
  private final Path before;
  private final Path temporary;

  /** All promises that still count, ending with a crash; empty before the first life. */
  private List<PromiseEvent> promised = List.of();

  /** The same before the last life. */
  private List<PromiseEvent> promisedBefore = List.of();

  private boolean first = true;

  /** Whether a process ever died here. */
  private boolean crashed;

  private boolean failed;
  private int lives;
  private String lastDeath = "";

  /** The seeds of the lives that died here since the last check. */
  private final List<Long> seeds = new ArrayList<>();

  StoreLine(Class<?> subject, Options options, DeathTally tally, Path home) throws IOException {
    this.subject = subject;
    this.keepsLazy = Subjects.of(subject).get().keepsLazyWhenKilled();
    this.options = options;
    this.tally = tally;
    // The children start in another directory, so no path may be relative.
    this.home = home.toAbsolutePath();
    this.arena = this.home.resolve("arena");
    this.store = arena.resolve(STORE);
    this.before = this.home.resolve("before");
    this.temporary = this.home.resolve("temporary");
    FileTrees.delete(home);
    Files.createDirectories(store);
    Files.createDirectories(temporary);
  }

  /** Whether there was no life here yet. */
  boolean isFresh() {
    return first;
  }

  /** Whether there was a failure here, so that later lives would only repeat it. */
  boolean hasFailed() {
    return failed;
  }

  /** Whether a process died here since the last check. */
  boolean isUnchecked() {
    return !seeds.isEmpty();
  }

  int lives() {
    return lives;
  }

  /** The number of regular files in the directory of the store. */
  long countFiles() throws IOException {
    try (Stream<Path> entries = Files.walk(store)) {
      return entries.filter(Files::isRegularFile).count();
    }
  }

  /**
   * Creates another store with the state of this one before its last life.
   *
   * @param other the directory of the new store
   * @return a line that continues from there
   */
  StoreLine branch(Path other) throws IOException {
    StoreLine branch = new StoreLine(subject, options, tally, other);
    ImageCopy.of(before, branch.store);
    branch.promised = promisedBefore;
    branch.first = false;
    branch.crashed = crashed;
    return branch;
  }

  /** The order for the next life. It checks if there was a life before. */
  LifeOrder order(long seed, int works, int closeEvery, boolean checkLast, boolean recorded) {
    return order(promised, first, seed, works, closeEvery, checkLast, recorded);
  }

  private LifeOrder order(
      List<PromiseEvent> promises,
      boolean begins,
      long seed,
      int works,
      int closeEvery,
      boolean checkLast,
      boolean recorded) {
    int number = ++lives;
    Path file = home.resolve(number + ".promises");
    if (!begins) {
      write(PromiseLog.of(promises), file);
    }
    return new LifeOrder(
        subject.getName(),
        store,
        home.resolve(number + ".ledger"),
        begins ? null : file,
        home.resolve(number + ".settled"),
        seed,
        works,
        closeEvery,
        checkLast,
        recorded,
        /* judged= */ recorded,
        null,
        /* control= */ false);
  }

  /** The order for a life beside a stopped one. It includes the promises of the stopped one. */
  LifeOrder orderBeside(List<PromiseEvent> saidByOther, long seed) {
    return order(joined(promised, saidByOther, true), false, seed, 1, 1, false, false);
  }

  /** Forks a life. The caller waits for its end and passes the report to {@link #account}. */
  LifeWatch fork(LifeOrder order, Duration stallLimit) {
    return LifeWatch.fork(order, subject, arena, temporary, options.flags(), stallLimit);
  }

  /**
   * Runs a life and checks it against the earlier promises.
   *
   * @throws BrokenHarnessException if the subject is at fault
   */
  LifeReport live(LifeOrder order, KillRule rule) throws IOException, BrokenHarnessException {
    long image = first ? 0 : keepImage();
    LifeReport report;
    try (LifeWatch watch = fork(order, options.stallLimit())) {
      report = watch.run(rule);
    }
    account(order, report, image);
    return report;
  }

  /** Copies the present files, so that the next failure can be repeated from them. */
  long keepImage() throws IOException {
    promisedBefore = promised;
    return ImageCopy.of(store, before);
  }

  private void account(LifeOrder order, LifeReport report, long image)
      throws IOException, BrokenHarnessException {
    demandNoEscape();
    boolean begins = first;
    first = false;
    End end = report.end();
    if (end == End.NO_LEDGER) {
      throw new BrokenHarnessException(
          Verdict.NOT_MEASURED,
          "a forked JVM cannot create the file of its promises below " + home,
          report.story());
    }
    if (end == End.BROKEN) {
      throw broken(report.summary(), report);
    }
    boolean abnormal = end == End.FAILED || end == End.STALLED || end == End.EXITED;
    if (abnormal && !crashed) {
      throw broken(withoutCrash(begins, report), report);
    }
    if (end == End.EXITED && report.phase() == Phase.WORK) {
      throw broken("the subject's work " + report.summary(), report);
    }
    boolean checked = !begins && report.ended(Phase.CHECK) > 0;
    if (crashed && (checked || abnormal)) {
      long nanos = report.opens().isEmpty() ? 0 : report.opens().getFirst();
      if (checked && isUnchecked() && !abnormal) {
        tally.count(Verdict.SURVIVED, "");
      }
      tally.checked(image, seeds, lastDeath, nanos);
      seeds.clear();
    }
    if (abnormal) {
      failed = true;
      fail(order, report);
      return;
    }
    if (checked) {
      promised = read(order.settled()).events();
    }
    boolean died = end != End.DONE;
    if (died) {
      crashed = true;
      lastDeath = (isUnchecked() ? lastDeath + ", and one that " : "") + report.summary();
      seeds.add(order.seed());
    }
    List<PromiseEvent> said = report.events();
    // A recording takes stores into mapped memory to the file a moment later.
    boolean keeps = keepsLazy && !order.recorded();
    promised = joined(promised, died && keeps ? kept(said) : said, died);
  }

  /** A failure is repeated from the same files before it is reported, each kind once. */
  private void fail(LifeOrder order, LifeReport report) throws IOException, BrokenHarnessException {
    Verdict verdict = verdict(report);
    String title = "after a process that " + lastDeath + ", the next one " + report.summary();
    boolean known = !tally.isNew(report.kind(), report.end() == End.STALLED);
    if (!known) {
      int looks = report.end() == End.STALLED ? 1 : LOOKS;
      for (int i = 0; i < looks; i++) {
        LifeReport again = repeat(order, report);
        if (verdict(again) == Verdict.HARNESS_BROKEN) {
          throw broken(title + "; the same files again: " + again.summary(), report);
        }
        if (verdict(again) == Verdict.SURVIVED) {
          throw broken(
              "the subject is not deterministic: " + title + "; the same files again: it survived",
              report);
        }
        verdict = verdict.worse(verdict(again));
      }
    }
    tally.count(verdict, title);
    if (!known) {
      keep(verdict, title, report, before, promised);
    }
  }

  /** A failure without a kill before it is the subject's own fault. */
  private static String withoutCrash(boolean begins, LifeReport report) {
    if (report.phase() == Phase.CHECK && report.end() == End.FAILED) {
      return "the subject's own check does not hold on an intact disk: it " + report.summary();
    }
    return begins
        ? "in its first life on an intact disk the subject " + report.summary()
        : "in a later life on an intact disk the subject " + report.summary();
  }

  private void keep(
      Verdict verdict, String title, LifeReport report, Path files, List<PromiseEvent> events)
      throws IOException {
    Path kept = options.dir().resolve("failures").resolve(home.getFileName() + "-" + lives);
    Files.createDirectories(kept);
    Path image = kept.resolve("image");
    ImageCopy.of(files, image);
    Failure failure =
        new Failure(
            verdict,
            title,
            report.findings(),
            report.story(),
            options.seed(),
            /* file= */ null,
            Set.of(report.cause(verdict)),
            List.of());
    PromiseLog log = PromiseLog.of(events);
    write(log, kept.resolve("promises"));
    tally.keep(new Evidence(failure, image, log, Long.MAX_VALUE));
  }

  /**
   * Notes a failure of a process that had the store while another one was stopped. The promises of
   * the stopped process must be there already. (An exception before any finding counts as a
   * refusal.)
   */
  void failBeside(LifeReport report, List<PromiseEvent> saidByOther) throws IOException {
    Verdict verdict = verdict(report);
    String title = "beside a process that was stopped, the next one " + report.summary();
    tally.count(verdict, title);
    if (tally.isNew("beside " + report.kind(), /* stalled= */ false)) {
      keep(verdict, title, report, before, joined(promised, saidByOther, true));
    }
  }

  private LifeReport repeat(LifeOrder order, LifeReport report) throws IOException {
    ImageCopy.of(before, store);
    int number = ++lives;
    LifeOrder again =
        new LifeOrder(
            order.subject(),
            store,
            home.resolve(number + ".ledger"),
            order.promises(),
            home.resolve(number + ".settled"),
            order.seed(),
            report.begun(Phase.WORK),
            order.closeEvery(),
            order.checkLast() && report.ended(Phase.WORK) == order.works(),
            order.recorded(),
            /* judged= */ false, // it may only show the failure again
            null,
            /* control= */ false);
    try (LifeWatch watch = fork(again, options.stallLimit())) {
      return watch.run(new KillRule.Never());
    }
  }

  private static Verdict verdict(LifeReport report) {
    if (report.end() == End.DONE) {
      return Verdict.SURVIVED;
    }
    if (report.end() == End.BROKEN || report.end() == End.NO_LEDGER) {
      return Verdict.HARNESS_BROKEN;
    }
    boolean isJudged = report.failed() == null && !report.findings().isEmpty();
    return report.findings().stream()
        .map(Finding::kind)
        .map(Finding.Kind::verdict)
        .reduce(isJudged ? Verdict.SURVIVED : Verdict.CORRUPT, Verdict::worse);
  }

  /**
   * Two processes had the store in turns. Their reports count as one life that ended in a crash.
   */
  void together(List<PromiseEvent> said, long seed, String death) {
    promised = joined(promised, said, true);
    first = false;
    crashed = true;
    seeds.add(seed);
    lastDeath = death;
  }

  private static BrokenHarnessException broken(String reason, LifeReport report) {
    return new BrokenHarnessException(
        Verdict.HARNESS_BROKEN, reason, report.otherFindings() + report.story());
  }

  private void demandNoEscape() throws IOException, BrokenHarnessException {
    List<String> others;
    try (Stream<Path> entries = Files.list(arena)) {
      others =
          entries
              .map(entry -> String.valueOf(entry.getFileName()))
              .filter(name -> !name.equals(STORE))
              .sorted()
              .toList();
    }
    if (!others.isEmpty()) {
      throw new BrokenHarnessException(
          Verdict.HARNESS_BROKEN,
          "the subject wrote outside its directory; beside it there is now " + others);
    }
  }

  /** What was accepted lazily is durable, as no power cut follows. */
  private static List<PromiseEvent> kept(List<PromiseEvent> said) {
    List<PromiseEvent> kept = new ArrayList<>();
    for (PromiseEvent event : said) {
      kept.add(
          switch (event) {
            case OfWrite e when e.what() == Single.LAZY ->
                new OfWrite(e.by(), Single.DURABLE, e.key(), e.value());
            case OfGroup e when e.step() == Step.LAZY ->
                new OfGroup(e.by(), e.group(), Step.DURABLE);
            default -> event;
          });
    }
    return kept;
  }

  private static List<PromiseEvent> joined(
      List<PromiseEvent> before, List<PromiseEvent> said, boolean death) {
    List<PromiseEvent> all = new ArrayList<>(before);
    all.addAll(said);
    all.add(new PromiseEvent.Crash(death));
    return all;
  }

  private static void write(PromiseLog log, Path file) {
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
      log.writeTo(out);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }

  private static PromiseLog read(Path file) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      return PromiseLog.readFrom(in);
    }
  }

  /** Deletes everything. */
  void delete() {
    FileTrees.delete(home);
  }
}
