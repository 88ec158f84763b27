package org.revenantdb.chaos.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
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
import org.revenantdb.chaos.trace.TraceClock;

/**
 * What a subject said over its lives, in order, and what that promises at any crash point.
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
 * <p>Threads: any may say something at any time. It is looked at when nobody speaks any more; then
 * by any thread, several at once. Failure: none while it is written.
 */
public final class PromiseLog {

  private final List<PromiseEvent> events = new ArrayList<>();
  private final AtomicLong groups = new AtomicLong();
  private final boolean keeps;
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
   * Creates a log that hands everything on and keeps nothing, for a process that will be killed.
   *
   * @param sink called by the thread that said it, before the call returns to the subject
   */
  public PromiseLog(Consumer<PromiseEvent> sink) {
    this.keeps = false;
    this.listener = sink;
  }

  /**
   * Makes a log again from its events.
   *
   * @param events in the order in which they were said, with a {@link PromiseEvent.Crash} between
   *     two lives
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
   * @param source stands behind it afterwards
   * @return the log that was written
   * @throws IOException if it cannot be read, or is damaged or none
   */
  public static PromiseLog readFrom(DataInput source) throws IOException {
    return PromiseFile.read(source);
  }

  /**
   * Writes the log.
   *
   * @param target is given all of it
   * @throws IOException if it cannot be written
   */
  public void writeTo(DataOutput target) throws IOException {
    PromiseFile.write(events(), isCutOffByDeath(), target);
  }

  /**
   * Hands everything that is said from now on to somebody else, too.
   *
   * @param other called by the thread that said it, before the call returns to the subject
   * @return this
   */
  public PromiseLog listener(Consumer<PromiseEvent> other) {
    listener = listener.andThen(other);
    return this;
  }

  /**
   * What a subject is given to speak with, in this life.
   *
   * @param clock from which every word takes its place; the recording's own
   * @param seed of this life
   * @return for any number of threads
   */
  public Promises promises(TraceClock clock, long seed) {
    return promises(clock, seed, () -> false);
  }

  /**
   * What a subject is given to speak with in a life whose process may die.
   *
   * @param clock from which every word takes its place; the recording's own
   * @param seed of this life
   * @param dead whether the process is dead; what is said from then on is not heard
   * @return for any number of threads
   */
  public Promises promises(TraceClock clock, long seed, BooleanSupplier dead) {
    begin(clock);
    // The place is taken before this is asked: what is heard was said by the living.
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
      clock.next(); // what was found was there just before the place at which that is said
      By look = new By(clock.next(), PromiseIndex.LOOK, "as found before");
      stays.forEach((key, value) -> said(new OfWrite(look, Single.FOUND, key, value)));
    }
  }

  private void said(PromiseEvent event) {
    if (keeps) {
      synchronized (events) {
        events.add(event);
        index = null;
      }
    }
    listener.accept(event);
  }

  /**
   * Says that the last life was ended by the death of its process, so that the log may lack what it
   * would have said next. Where nothing is announced before it is made, one value (or removal, if
   * the subject removes) for each thread is then allowed to be there unexplained.
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
   * Whether the last life was ended by the death of its process.
   *
   * @return true after {@link #cutOffByDeath}
   */
  public boolean isCutOffByDeath() {
    synchronized (events) {
      return death;
    }
  }

  /**
   * Begins to compare a recovered store with what was promised.
   *
   * @param crash the crash point: what was said before it counts; {@link Long#MAX_VALUE} for all
   * @return for one look
   */
  public RecoveredState at(long crash) {
    return new RecoveredState(index(), crash);
  }

  /**
   * What counts after a crash, for a life that goes on from there with a clock of its own: promises
   * bind, what had no answer may be there or not, for ever. In the copy all of that lies before
   * place 1.
   *
   * @param crash the crash point; {@link Long#MAX_VALUE} for all
   * @return a log of its own
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
   * Says that what a look found stays: work that was in doubt and was there is durable, and what
   * was not there does not come back. For the log that {@link #before} made of the one looked at,
   * when the look is over and before new work begins: it counts from the place on that the next
   * {@link #promises} takes from its clock, so not for a crash while the store was being recovered.
   *
   * @param found a look with no finding
   * @return this
   * @throws IllegalArgumentException if something was wrong
   */
  public PromiseLog settle(RecoveredState found) {
    if (!found.findings().isEmpty()) {
      throw new IllegalArgumentException("what is wrong does not stay: " + found.findings());
    }
    synchronized (events) {
      settled.putAll(found.undecided());
    }
    return this;
  }

  /**
   * The log as if from some place on nothing had been promised: what was tried is there or not. For
   * what damages the disk where no store can tell it from a crash.
   *
   * @param place answers of the last life at it or after it are left out; those that say that
   *     something was taken back stay
   * @return a log of its own
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
    // What the answers would have told of had its window before them.
    said.addAll(index().unannouncedFrom(place));
    PromiseLog less = of(said);
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
   * Where the last life gave answers (durable, lazy, read, flushed, rolled back). The first crash
   * point at which an answer counts is its place plus one.
   *
   * @return ascending, each once
   */
  public List<Long> places() {
    return index().answerPlaces();
  }

  /**
   * How many lives it speaks of.
   *
   * @return one more than there were crashes
   */
  public int lives() {
    return 1 + (int) events().stream().filter(Crash.class::isInstance).count();
  }

  /**
   * How many values were given to one key by two transactions or more. That is legal, but the
   * oracle cannot tell which of them it sees, and finds less.
   *
   * @return of all lives; removals do not count
   */
  public int repeated() {
    return index().repeated();
  }

  /**
   * How many answers of any kind were given; where it is the same at two crash points, the later
   * one demands no more than the earlier one. This tells whether an image must be looked at again.
   *
   * @param crash the crash point
   * @return of all lives
   */
  public int answerCount(long crash) {
    return index().answerCount(crash);
  }

  /**
   * Everything that was said.
   *
   * @return a copy
   */
  public List<PromiseEvent> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  /**
   * Whether nothing was said.
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
