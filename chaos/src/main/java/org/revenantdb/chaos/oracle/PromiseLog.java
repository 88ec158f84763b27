package org.revenantdb.chaos.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.PromiseEvent.AllDurable;
import org.revenantdb.chaos.oracle.PromiseEvent.By;
import org.revenantdb.chaos.oracle.PromiseEvent.Crash;
import org.revenantdb.chaos.oracle.PromiseEvent.OfGroup;
import org.revenantdb.chaos.oracle.PromiseEvent.OfWrite;
import org.revenantdb.chaos.oracle.PromiseEvent.Single;
import org.revenantdb.chaos.oracle.PromiseEvent.Step;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * The reports of a subject over its lives, in order, and what they promise at any crash point.
 *
 * {@snippet :
 * PromiseLog log = new PromiseLog();
 * subject.work(store, log.promises(clock, seed));
 * // a crash at place c; the store is opened on what it left
 * RecoveredState state = log.at(c);
 * subject.check(recovered, state);
 * // life goes on after that crash, with a new clock
 * PromiseLog next = log.before(c);
 * subject.resume(recovered, next.promises(new TraceClock(), seed));
 * }
 *
 * <p>Threads: any may report at any time. The log is read when no thread reports any more; then any
 * threads may read it, several at once. Failure: none while it is written.
 */
public final class PromiseLog {

  private final List<PromiseEvent> events = new ArrayList<>();
  private final AtomicLong groups = new AtomicLong();
  private final PromiseStacks stacks = new PromiseStacks();
  private final boolean keeps;
  private volatile boolean takesStacks;
  private volatile Consumer<PromiseEvent> listener;

  // Guarded by events.
  private final Map<Bytes, @Nullable Bytes> settled = new TreeMap<>();
  private boolean death;
  private @Nullable PromiseIndex index;

  /** Creates an empty log. */
  public PromiseLog() {
    this.keeps = true;
    this.listener = event -> {};
  }

  /**
   * Creates a log that passes every event on and keeps none, for a process that will be killed.
   *
   * @param sink called by the thread that reports, before its call returns to the subject
   */
  public PromiseLog(Consumer<PromiseEvent> sink) {
    this.keeps = false;
    this.listener = sink;
  }

  /**
   * Rebuilds a log from its events.
   *
   * @param events in the order of the reports, with a {@link PromiseEvent.Crash} between two lives
   * @return a log whose last life can be continued
   */
  public static PromiseLog of(List<PromiseEvent> events) {
    PromiseLog log = new PromiseLog();
    log.events.addAll(events);
    log.groups.set(PromiseIndex.lastGroup(events));
    return log;
  }

  /**
   * Reads a log.
   *
   * @param source its position is behind the log afterwards
   * @return the log that was written
   * @throws IOException if it cannot be read, is damaged, or is not a log
   */
  public static PromiseLog readFrom(DataInput source) throws IOException {
    return PromiseFile.read(source);
  }

  /**
   * Writes the log.
   *
   * @param target receives the log
   * @throws IOException if it cannot be written
   */
  public void writeTo(DataOutput target) throws IOException {
    PromiseFile.write(events(), isCutOffByDeath(), target);
  }

  /**
   * Passes every event from now on to a listener, too.
   *
   * @param other called by the thread that reports, before its call returns to the subject
   * @return this
   */
  public PromiseLog listener(Consumer<PromiseEvent> other) {
    listener = listener.andThen(other);
    return this;
  }

  /**
   * Returns what a subject uses to report in this life.
   *
   * @param clock from which every report takes its place; the recording's own
   * @param seed of this life
   * @return for any number of threads
   */
  public Promises promises(TraceClock clock, long seed) {
    return promises(clock, seed, () -> false);
  }

  /**
   * Returns what a subject uses to report in a life whose process may die.
   *
   * @param clock from which every report takes its place; the recording's own
   * @param seed of this life
   * @param dead whether the process is dead; reports from then on are ignored
   * @return for any number of threads
   */
  public Promises promises(TraceClock clock, long seed, BooleanSupplier dead) {
    begin(clock);
    // The place is taken before this check, so an accepted report comes from a living process.
    return new PromiseWriter(
        clock,
        seed,
        groups,
        event -> {
          if (!dead.getAsBoolean()) {
            said(event);
          }
        });
  }

  private void begin(TraceClock clock) {
    Map<Bytes, @Nullable Bytes> stays;
    synchronized (events) {
      stays = new TreeMap<>(settled);
      settled.clear();
    }
    if (!stays.isEmpty()) {
      clock.next(); // the state existed just before the place of this report
      By look = new By(clock.next(), PromiseIndex.LOOK, "as found before");
      stays.forEach((key, value) -> said(new OfWrite(look, Single.FOUND, key, value)));
    }
  }

  /**
   * Takes the stack of each promise from now on, for {@link #lastBefore}. A stack costs several
   * microseconds. So only logs whose lives are recorded take them, and not those of the many checks
   * of images. A log that {@link #before} makes does not take stacks.
   *
   * @return this
   */
  public PromiseLog withStacks() {
    takesStacks = true;
    return this;
  }

  private void said(PromiseEvent event) {
    if (keeps) {
      if (takesStacks && isPromise(event)) {
        stacks.note(PromiseIndex.by(event).place());
      }
      synchronized (events) {
        events.add(event);
        index = null;
      }
    }
    listener.accept(event);
  }

  /**
   * Notes that the death of its process ended the last life, so the log may lack its next reports.
   * If the subject announces nothing, one value for each thread may then be unexplained (or one
   * removal, if the subject removes).
   *
   * @return this
   */
  public PromiseLog cutOffByDeath() {
    synchronized (events) {
      death = true;
      index = null;
    }
    return this;
  }

  /**
   * Returns whether the death of its process ended the last life.
   *
   * @return true after {@link #cutOffByDeath}
   */
  public boolean isCutOffByDeath() {
    synchronized (events) {
      return death;
    }
  }

  /**
   * Begins to compare a recovered store with the promises.
   *
   * @param crash the crash point: reports before it count; {@link Long#MAX_VALUE} for all
   * @return for one check
   */
  public RecoveredState at(long crash) {
    return new RecoveredState(index(), crash);
  }

  /**
   * Returns what counts after a crash, for a life that continues from there with its own clock.
   * Promises bind. Everything without an answer may be there or not, for good. In the copy all of
   * that lies before place 1.
   *
   * @param crash the crash point; {@link Long#MAX_VALUE} for all
   * @return a new log
   */
  public PromiseLog before(long crash) {
    List<PromiseEvent> all = events();
    int lifeBegins = lastLife(all);
    List<PromiseEvent> said = new ArrayList<>(all.subList(0, lifeBegins));
    for (PromiseEvent event : all.subList(lifeBegins, all.size())) {
      if (PromiseIndex.by(event).place() < crash) {
        said.add(event);
      }
    }
    said.addAll(index().windowsOpenAt(crash));
    said.add(new Crash(isCutOffByDeath()));
    return of(said);
  }

  /** Where the last life begins among the events. */
  private static int lastLife(List<PromiseEvent> all) {
    for (int i = all.size(); i > 0; i--) {
      if (all.get(i - 1) instanceof Crash) {
        return i;
      }
    }
    return 0;
  }

  /**
   * Notes that the result of a check stays: work in doubt that was there is durable, and what was
   * missing does not come back. Call it on the log that {@link #before} made from the checked one,
   * after the check and before new work begins. It counts from the place that the next {@link
   * #promises} takes from its clock, so not for a crash during recovery.
   *
   * @param found a check without findings
   * @return this
   * @throws IllegalArgumentException if the check has findings
   */
  public PromiseLog settle(RecoveredState found) {
    if (!found.findings().isEmpty()) {
      throw new IllegalArgumentException(
          "a check with findings cannot be settled: " + found.findings());
    }
    synchronized (events) {
      settled.putAll(found.undecided());
    }
    return this;
  }

  /**
   * Returns the log as if nothing had been promised from some place on: what was attempted is there
   * or not. For damage to the disk that no store can distinguish from a crash.
   *
   * @param place answers of the last life at it or after it are dropped; rollbacks stay
   * @return a new log
   */
  public PromiseLog withoutAnswersFrom(long place) {
    List<PromiseEvent> all = events();
    int lifeBegins = lastLife(all);
    List<PromiseEvent> said = new ArrayList<>(all.subList(0, lifeBegins));
    for (PromiseEvent event : all.subList(lifeBegins, all.size())) {
      if (PromiseIndex.by(event).place() < place || !isAnswer(event)) {
        said.add(event);
      }
    }
    // Work that these answers would have reported had its window before them.
    said.addAll(index().unannouncedFrom(place));
    PromiseLog less = of(said).madeIn(stacks.all());
    return isCutOffByDeath() ? less.cutOffByDeath() : less;
  }

  private static boolean isAnswer(PromiseEvent event) {
    return switch (event) {
      case OfWrite write -> write.what() != Single.ATTEMPT;
      case OfGroup step -> step.step() == Step.DURABLE || step.step() == Step.LAZY;
      case AllDurable flushed -> true;
      default -> false;
    };
  }

  /**
   * Returns whether a report is a promise of the store: no attempt, no rollback, and no content
   * that a check has found.
   *
   * @param event the report
   * @return true if it binds the store
   */
  public static boolean isPromise(PromiseEvent event) {
    return isAnswer(event) && !(event instanceof OfWrite write && write.what() == Single.FOUND);
  }

  /**
   * Returns the places of the answers in the last life (durable, lazy, read, flushed, rolled back).
   * The first crash point at which an answer counts is its place plus one.
   *
   * @return ascending, each once
   */
  public List<Long> places() {
    return index().answerPlaces();
  }

  /**
   * Adds where promises of the last life were made, if that is known from elsewhere.
   *
   * @param byPlace the stacks
   * @return this
   */
  public PromiseLog madeIn(Map<Long, CallStack> byPlace) {
    byPlace.forEach(stacks::note);
    return this;
  }

  /**
   * Returns where the promises of the last life were made.
   *
   * @return the stacks that are known, by the places of the promises
   */
  public Map<Long, CallStack> madeIn() {
    return stacks.all();
  }

  /**
   * Describes the last promise of the last life before a crash, with the stack of the thread that
   * made it. It is often the broken one, because crashes are tried behind each promise.
   *
   * @param crash the crash point
   * @return a line, and the stack below it if it is known; empty if nothing was promised before
   */
  public String lastBefore(long crash) {
    List<PromiseEvent> all = events();
    PromiseEvent last = null;
    for (PromiseEvent event : all.subList(lastLife(all), all.size())) {
      long place = isPromise(event) ? PromiseIndex.by(event).place() : Long.MAX_VALUE;
      if (place < crash && (last == null || place > PromiseIndex.by(last).place())) {
        last = event;
      }
    }
    if (last == null) {
      return "";
    }
    By by = PromiseIndex.by(last);
    String stack = stacks.at(by.place()).text();
    return "the last promise before it, at %d: %s by thread %s%s"
        .formatted(by.place(), words(last), by.name(), stack.isEmpty() ? "" : "\n" + stack);
  }

  private static String words(PromiseEvent answer) {
    return switch (answer) {
      case OfWrite write ->
          write.what().name().toLowerCase(Locale.ROOT).replace('_', ' ') + " " + write.key();
      case OfGroup step ->
          step.step().name().toLowerCase(Locale.ROOT) + " transaction " + step.group();
      default -> "all is durable";
    };
  }

  /**
   * Returns the number of lives.
   *
   * @return the number of crashes plus one
   */
  public int lives() {
    return 1 + (int) events().stream().filter(Crash.class::isInstance).count();
  }

  /**
   * Returns how many values two or more transactions gave to one key. That is legal, but the oracle
   * cannot tell these transactions apart and finds less.
   *
   * @return for all lives; removals do not count
   */
  public int repeated() {
    return index().repeated();
  }

  /**
   * Returns how many answers of any kind were given. If it is the same at two crash points, the
   * later one demands no more than the earlier one. So an image need not be checked again.
   *
   * @param crash the crash point
   * @return for all lives
   */
  public int answerCount(long crash) {
    return index().answerCount(crash);
  }

  /**
   * Returns all reports.
   *
   * @return a copy
   */
  public List<PromiseEvent> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  /**
   * Returns whether there is no report.
   *
   * @return true if there is no event but crashes
   */
  public boolean isEmpty() {
    return events().stream().allMatch(Crash.class::isInstance);
  }

  private PromiseIndex index() {
    synchronized (events) {
      PromiseIndex known = index;
      if (known == null) {
        known = new PromiseIndex(events, death);
        index = known;
      }
      return known;
    }
  }
}
