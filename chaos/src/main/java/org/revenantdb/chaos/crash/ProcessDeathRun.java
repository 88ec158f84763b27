package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.LifeReport.End;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.LossControl;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.Seen;
import org.revenantdb.chaos.run.Subjects;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;

/**
 * Process death for any subject: kills forked JVMs during their work, and checks that each next
 * process finds what the ones before it were promised.
 *
 * <p>A store lives in one directory through a sequence of processes. Each opens it, checks it
 * against the promises in the ledgers of the dead, resumes, closes, opens and checks again. Then it
 * works until it is killed in turn: one fork for each kill.
 *
 * <p>The page cache survives, so a run cannot detect a missing {@code force}.
 *
 * {@snippet :
 * Options options = Options.of(scratch, seed, 100).withFailpoints().withZombies(3);
 * Outcome outcome = new ProcessDeathRun(MyStoreSurvives.class, options).run();
 * }
 *
 * <p>Threads: one.
 */
public final class ProcessDeathRun {
  /*
   * When a process dies
   *   random      at a count of its promises, calibrated by a first life that is not killed; or a
   *               random share of the usual time after it began to open or to close, where it
   *               cannot report promises. Opening is killed up to three times in a row.
   *   failpoints  before and after each place that changes a file, at a random pass. Every life
   *               runs through the recorder. So a place that only recovery reaches is seen when it
   *               is first passed, and joins the queue. If a living store does not pass the place
   *               (creation), a fresh one passes it as in the first life. If only the files of one
   *               crash lead to the place, the life that saw it is repeated from the same files.
   *               The life that finds the places compares the directory with what it recorded, and
   *               so does each later life after its recovery and at its end. If they differ, or no
   *               place changes a file: NOT_MEASURED. A file that is made and deleted between two
   *               comparisons is not noticed.
   *   zombies     see ZombieRound.
   *
   * How a life ends, and what it means
   *   killed, died      the next life checks
   *   found, threw, stalled, ended the process
   *                     Before any process died in the store: HARNESS_BROKEN. Later: the same files
   *                     once or twice more. The same result again is a failure (findings: theirs;
   *                     else CORRUPT), survival is HARNESS_BROKEN.
   *   done              everything held so far
   *
   * Two lives come before all deaths: one that works, and one that runs the controls on the files
   * of the first.
   */

  static final String NAME = "process death";

  private static final String INSTEAD =
      "Use files = ANY, which tries the death of a process between any two operations";

  private static final int KILLS_FOR_EACH_STORE = 20;
  private static final int OPENS_KILLED_IN_A_ROW = 3;
  private static final int WORKS_OF_A_SCRIPT = 2;

  private final Class<? extends CrashSubject<?>> subject;
  private final Options options;
  private final DeathTally tally;
  private final SplittableRandom random;
  private final List<String> unreached = new ArrayList<>();
  private final List<String> notPassed = new ArrayList<>();
  private final List<String> leftOver = new ArrayList<>();
  private final Set<String> notes = new LinkedHashSet<>();
  private final Map<String, Long> places = new TreeMap<>();
  private long files;
  private long promises;
  private final long end;
  private int stores;
  private int repeated;
  private long promisesOfAWork = 1;
  private long closeNanos = 1_000_000;

  /**
   * Prepares a run.
   *
   * @param subject with a constructor without parameters
   * @param options the settings
   * @throws IllegalArgumentException if no process is to die
   */
  public ProcessDeathRun(Class<? extends CrashSubject<?>> subject, Options options) {
    this.subject = subject;
    this.options = options;
    if (options.kills() < 0 || options.zombies() < 0) {
      throw new IllegalArgumentException(
          "kills and zombies are 0 or more, not %d and %d"
              .formatted(options.kills(), options.zombies()));
    }
    if (options.kills() == 0 && options.zombies() == 0 && !options.failpoints()) {
      throw new IllegalArgumentException(
          "with no kills, no failpoints and no zombies nothing would be measured");
    }
    this.tally = new DeathTally(options);
    this.random = new SplittableRandom(options.seed());
    this.end =
        options.limit() == null ? Long.MAX_VALUE : System.nanoTime() + options.limit().toNanos();
  }

  /**
   * Runs the deaths and the checks.
   *
   * @return the result
   */
  public Outcome run() {
    try {
      Subjects.of(subject);
    } catch (IllegalArgumentException e) {
      return Outcome.of(NAME, Verdict.HARNESS_BROKEN, String.valueOf(e.getMessage()));
    }
    try {
      Files.createDirectories(options.dir());
      calibrate();
      killAtRandom();
      if (options.failpoints()) {
        measureFailpoints();
      }
      if (options.zombies() > 0) {
        zombies();
      }
      if (tally.kills() == 0 && tally.worst() == Verdict.SURVIVED) {
        throw new BrokenHarnessException(
            Verdict.NOT_MEASURED, "the time was over before a process had died");
      }
    } catch (BrokenHarnessException e) {
      tally.broken(e);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot use the scratch directory " + options.dir(), e);
    }
    return tally.outcome(seen());
  }

  /**
   * Returns the evidence of the failures.
   *
   * @return in the order of the outcome's failures; without the last failure if the subject itself
   *     is at fault
   */
  public List<Evidence> evidence() {
    return List.copyOf(tally.evidence());
  }

  /**
   * Copies the evidence from the scratch directory to a place that outlives it.
   *
   * @param outcome of {@link #run}
   * @param directory where the files of failures go
   * @return the outcome, with failures that name those files
   * @throws IOException if they cannot be written
   */
  public Outcome keepEvidence(Outcome outcome, Path directory) throws IOException {
    List<Failure> failures = new ArrayList<>(outcome.failures());
    for (int i = 0; i < tally.evidence().size(); i++) {
      failures.set(i, tally.evidence().get(i).keepIn(directory, subject));
    }
    return outcome.withFailures(failures);
  }

  /**
   * Returns the deaths at places that were seen which did not take place, because no process passed
   * the place again or the time was over.
   *
   * @return {@code before} or {@code after}, and the call site or the name of the failpoint
   */
  public List<String> unreached() {
    return List.copyOf(unreached);
  }

  /** What the first life left, and with failpoints what the recorder saw. */
  private Seen seen() {
    Seen seen = Seen.NOTHING.with("files", files).with("promises", promises);
    if (!options.failpoints()) {
      return seen.with("operations on files are not recorded without failpoints");
    }
    long operations = 0;
    long forces = 0;
    long named = 0;
    for (Map.Entry<String, Long> place : places.entrySet()) {
      if (DeathWatch.isNamed(place.getKey())) {
        named++;
      } else {
        boolean isForce = DeathWatch.isForce(place.getKey());
        operations += isForce || DeathWatch.isChange(place.getKey()) ? place.getValue() : 0;
        forces += isForce ? place.getValue() : 0;
      }
    }
    for (String note : notes) {
      seen = seen.with(note);
    }
    return seen.with("operations", operations)
        .with("forces", forces)
        .with("places", places.size() - named)
        .with("failpoints", named)
        .with("deaths_left_out", unreached.size())
        .with(told("no process passed again, and so none died: ", notPassed))
        .with(told("the time was over, or enough had failed, before a death: ", leftOver));
  }

  private StoreLine newStore() throws IOException {
    return new StoreLine(subject, options, tally, newHome());
  }

  private Path newHome() {
    return options.dir().resolve(String.format(Locale.ROOT, "store-%03d", ++stores));
  }

  /** Two lives that are not killed: checks whether the subject is fit, and counts its promises. */
  private void calibrate() throws IOException, BrokenHarnessException {
    StoreLine store = newStore();
    LifeReport report =
        store.live(
            store.order(scriptSeed(), 1, 1, /* checkLast= */ false, false), new KillRule.Never());
    PromiseLog log = PromiseLog.of(report.events());
    if (log.answerCount(Long.MAX_VALUE) == 0) {
      throw new BrokenHarnessException(Verdict.HARNESS_BROKEN, LossControl.PROMISED_NOTHING);
    }
    repeated = log.repeated();
    promisesOfAWork = report.events().size();
    promises = log.places().size();
    files = store.countFiles();
    closeNanos = report.closes().stream().mapToLong(Long::longValue).max().orElse(closeNanos);
    LifeOrder order = store.order(scriptSeed(), 0, 1, /* checkLast= */ false, false).withControl();
    store.live(order, new KillRule.Never());
    store.delete();
  }

  /**
   * Returns how many values the subject's work gave to one key more than once, in its first life.
   *
   * @return 0 if all values differ; see {@link PromiseLog#repeated}
   */
  public int repeated() {
    return repeated;
  }

  private long scriptSeed() {
    return Seeds.of(options.seed(), 0);
  }

  private boolean isOver() {
    return System.nanoTime() >= end || tally.hasEnough();
  }

  private void killAtRandom() throws IOException, BrokenHarnessException {
    StoreLine store = newStore();
    int opensKilled = 0;
    while (tally.kills() < options.kills() && !isOver()) {
      if (store.hasFailed() || store.lives() >= KILLS_FOR_EACH_STORE) {
        look(store);
        store = newStore();
        opensKilled = 0;
        continue;
      }
      KillRule rule = draw(store, opensKilled);
      int closeEvery = 1 + random.nextInt(4);
      LifeOrder order = store.order(random.nextLong(), Integer.MAX_VALUE, closeEvery, false, false);
      LifeReport report = store.live(order, rule);
      boolean inOpen = report.end() == End.KILLED && report.ended(Phase.CHECK) == 0;
      opensKilled = inOpen ? opensKilled + 1 : 0;
      // The last death counts only after a check, and the loop must not make one kill too many.
      if (store.isUnchecked() && tally.kills() + opensKilled + 1 >= options.kills()) {
        look(store);
        store = newStore();
        opensKilled = 0;
      }
    }
    look(store);
  }

  private KillRule draw(StoreLine store, int opensKilled) {
    int choice = random.nextInt(100);
    if (!store.isFresh() && choice < 20 && opensKilled < OPENS_KILLED_IN_A_ROW) {
      int times = choice < 15 ? 1 : 2;
      return new KillRule.Inside(Phase.OPEN, times, share(tally.typicalOpenNanos()));
    }
    if (choice < 30) {
      return new KillRule.Inside(Phase.CLOSE, 1 + random.nextInt(2), share(closeNanos));
    }
    return new KillRule.AtPromise(
        choice < 60
            ? KillPoint.logUniform(random, 2 * promisesOfAWork)
            : KillPoint.uniform(random, 1, 3 * promisesOfAWork));
  }

  private long share(long nanos) {
    return (long) (random.nextDouble() * 1.1 * nanos);
  }

  private void look(StoreLine store) throws IOException, BrokenHarnessException {
    look(store, /* recorded= */ false);
  }

  /** Runs a life that only checks, and deletes the store. Null if there was nothing to check. */
  private @Nullable LifeReport look(StoreLine store, boolean recorded)
      throws IOException, BrokenHarnessException {
    LifeReport report = null;
    if (store.isUnchecked() && !store.hasFailed()) {
      LifeOrder order = store.order(random.nextLong(), 0, 1, false, recorded);
      report = store.live(order, new KillRule.Never());
    }
    store.delete();
    return report;
  }

  /** Two pieces of work with a close between and after them. */
  private static LifeOrder script(StoreLine store, long seed, @Nullable DeathPoint death) {
    return store.order(seed, WORKS_OF_A_SCRIPT, 1, death == null, true).withDeath(death);
  }

  /**
   * A place to die at.
   *
   * @param point the point
   * @param branch a store from which a life with the seed passes the point; null: any store
   * @param seed of that life
   */
  private record Errand(DeathPoint point, @Nullable StoreLine branch, long seed) {

    Errand atFirstPass() {
      return new Errand(new DeathPoint(point.place(), point.after(), 1), branch, seed);
    }
  }

  private static String told(String what, List<String> deaths) {
    return deaths.isEmpty() ? "" : what + String.join(", ", new TreeSet<>(deaths));
  }

  /** Failpoints that cannot be measured do not keep the rest of the run from being measured. */
  private void measureFailpoints() throws IOException, BrokenHarnessException {
    try {
      dieAtEachPlace();
    } catch (BrokenHarnessException e) {
      if (e.verdict() != Verdict.NOT_MEASURED) {
        throw e;
      }
      tally.broken(e);
      notes.add("failpoints were not measured");
    }
  }

  private void dieAtEachPlace() throws IOException, BrokenHarnessException {
    Map<String, Long> known = discover();
    Set<String> queued = new HashSet<>(known.keySet());
    List<Errand> errands = new ArrayList<>();
    for (Map.Entry<String, Long> place : known.entrySet()) {
      for (boolean after : new boolean[] {false, true}) {
        long pass = 1 + random.nextLong(place.getValue());
        errands.add(new Errand(new DeathPoint(place.getKey(), after, pass), null, scriptSeed()));
      }
    }
    // In random order, so that a time limit does not always skip the same.
    Collections.shuffle(errands, new Random(random.nextLong()));
    Deque<Errand> queue = new ArrayDeque<>(errands);
    StoreLine store = newStore();
    while (!queue.isEmpty() && !isOver()) {
      Errand errand = queue.removeFirst();
      StoreLine branch = errand.branch();
      if (branch != null) {
        if (!die(branch, errand, errand.seed(), queued, queue)) {
          leaveOut(errand, notPassed);
        }
        judge(look(branch, /* recorded= */ true));
        continue;
      }
      store = replaceIfWorn(store);
      boolean wasFresh = store.isFresh();
      long seed = wasFresh ? errand.seed() : random.nextLong();
      boolean died = die(store, errand, seed, queued, queue);
      boolean tried = !isOver();
      if (!died && tried) {
        if (wasFresh && !store.hasFailed()) {
          // The first life of a store has no check; the second one begins with it.
          errand = errand.atFirstPass();
          seed = random.nextLong();
        } else {
          judge(look(store, /* recorded= */ true));
          store = newStore();
          seed = errand.seed();
        }
        died = die(store, errand, seed, queued, queue);
      }
      if (!died) {
        leaveOut(errand, tried ? notPassed : leftOver);
      }
    }
    judge(look(store, /* recorded= */ true));
    for (Errand left : queue) {
      leaveOut(left, leftOver);
      if (left.branch() != null) {
        left.branch().delete();
      }
    }
  }

  private StoreLine replaceIfWorn(StoreLine store) throws IOException, BrokenHarnessException {
    if (!store.hasFailed() && store.lives() < KILLS_FOR_EACH_STORE) {
      return store;
    }
    judge(look(store, /* recorded= */ true));
    return newStore();
  }

  private void leaveOut(Errand errand, List<String> why) {
    String death = (errand.point().after() ? "after " : "before ") + errand.point().place();
    unreached.add(death);
    why.add(death);
  }

  /** Runs a life that dies at its point if it passes it. New places on the way join the queue. */
  private boolean die(
      StoreLine store, Errand errand, long seed, Set<String> queued, Deque<Errand> queue)
      throws IOException, BrokenHarnessException {
    boolean wasFresh = store.isFresh();
    LifeReport report = store.live(script(store, seed, errand.point()), new KillRule.Never());
    judge(report);
    for (String place : report.passes().keySet()) {
      if (queued.add(place)) {
        places.put(place, 1L);
        for (boolean after : new boolean[] {false, true}) {
          DeathPoint point = new DeathPoint(place, after, 1);
          // Only the files of this crash lead to the place: another life from there passes it.
          StoreLine branch = wasFresh ? null : store.branch(newHome());
          queue.addLast(new Errand(point, branch, wasFresh ? scriptSeed() : seed));
        }
      }
    }
    return report.end() == End.DIED;
  }

  /** A life through the recorder that is not killed, to find the places. */
  private Map<String, Long> discover() throws IOException, BrokenHarnessException {
    StoreLine store = newStore();
    LifeReport report;
    try {
      report = store.live(script(store, scriptSeed(), null), new KillRule.Never());
    } catch (BrokenHarnessException e) {
      throw new BrokenHarnessException(
          Verdict.NOT_MEASURED,
          "failpoints: the subject works on the file system itself, but not on a recording of it: "
              + e.reason(),
          e.story());
    } finally {
      store.delete();
    }
    places.putAll(report.passes());
    judge(report);
    if (report.passes().keySet().stream().noneMatch(DeathWatch::isChange)) {
      throw new BrokenHarnessException(
          Verdict.NOT_MEASURED, "failpoints: no place that changes a file was passed. " + INSTEAD);
    }
    return report.passes();
  }

  /** A life whose recording is not complete has places at which no process dies. */
  private void judge(@Nullable LifeReport report) throws BrokenHarnessException {
    if (report == null) {
      return;
    }
    report.notes().stream().limit(1).flatMap(String::lines).limit(1).forEach(notes::add);
    if (!report.missed().isEmpty()) {
      throw new BrokenHarnessException(
          Verdict.NOT_MEASURED,
          "failpoints: no process can die where the store bypasses the path that it was given. "
              + INSTEAD
              + ". Not recorded: "
              + report.missed().getFirst());
    }
  }

  private void zombies() throws IOException, BrokenHarnessException {
    for (int i = 0; i < options.zombies() && !isOver(); i++) {
      StoreLine store = newStore();
      ZombieRound round = new ZombieRound(store, options, random.split(), promisesOfAWork);
      round.play();
      look(store);
    }
  }
}
