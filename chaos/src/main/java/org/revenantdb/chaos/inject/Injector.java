package org.revenantdb.chaos.inject;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts the points that a life reaches, or throws errors there. The README has the states and the
 * rules.
 *
 * <p>Threads: any. Use one for each life.
 */
public final class Injector implements IntConsumer {

  private static final byte UNKNOWN = 0;
  private static final byte NO = 1;
  private static final byte YES = 2;
  private static final String INITIALIZER = "<clinit>";
  private static final Set<String> OURS = Set.of(Injector.class.getName(), Hook.class.getName());

  private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.");

  private enum State {
    COUNTING,
    ARMED,
    STRIKING,
    RELIEVED
  }

  private final ErrorSites sites;
  private final @Nullable Target target;
  private final LongSupplier places;
  private final AtomicReference<State> state;

  /** Of each point: while COUNTING all, while ARMED those that the target matches. */
  private final AtomicLongArray hits;

  /** Whether the target matches a point. Races are harmless: each thread finds the same answer. */
  private final byte[] matches;

  /** Found once for each thread. */
  private final ThreadLocal<Boolean> ofCaller = ThreadLocal.withInitial(this::beganOutside);

  private final AtomicLong matched = new AtomicLong();
  private final AtomicInteger thrown = new AtomicInteger();

  // Written by the thread that leaves ARMED, before the state changes.
  private volatile @Nullable Error first;
  private volatile @Nullable Thread striker;
  private volatile long firstAt;
  private volatile int depth;
  private volatile @Nullable Target precise;

  private Injector(ErrorSites sites, @Nullable Target target, LongSupplier places) {
    this.sites = sites;
    this.target = target;
    this.places = places;
    this.state = new AtomicReference<>(target == null ? State.COUNTING : State.ARMED);
    this.hits = new AtomicLongArray(ErrorSites.MOST);
    this.matches = new byte[target == null ? 0 : ErrorSites.MOST];
  }

  /**
   * Creates an injector that counts.
   *
   * @param sites the points
   * @return COUNTING
   */
  public static Injector counting(ErrorSites sites) {
    return new Injector(sites, null, () -> 0);
  }

  /**
   * Creates an injector that throws.
   *
   * @param sites the points
   * @param target where
   * @param places from which the first error takes its place, so that promises before it are known
   * @return ARMED
   */
  public static Injector at(ErrorSites sites, Target target, LongSupplier places) {
    return new Injector(sites, target, places);
  }

  @Override
  public void accept(int site) {
    switch (state.get()) {
      case COUNTING -> {
        if (isPossible(sites.get(site))) {
          hits.incrementAndGet(site);
        }
      }
      case ARMED -> armed(site);
      case STRIKING -> striking(site);
      case RELIEVED -> {}
    }
  }

  private void armed(int site) {
    Target goal = target;
    if (goal == null || !isMatch(goal, site) || !isPossible(sites.get(site))) {
      return;
    }
    if (goal.deeperThan() > 0 && frames() <= goal.deeperThan()) {
      return;
    }
    hits.incrementAndGet(site);
    if (matched.incrementAndGet() < goal.nth()) {
      return;
    }
    strikeFirst(goal, site);
  }

  private boolean isMatch(Target goal, int site) {
    byte known = matches[site];
    if (known == UNKNOWN) {
      known = goal.matches(sites.get(site)) ? YES : NO;
      matches[site] = known;
    }
    return known == YES;
  }

  private void strikeFirst(Target goal, int site) {
    if (isInInitializer()) {
      return;
    }
    Error error = error(goal.kind(), site);
    synchronized (this) { // once in a life, and not in the middle of relieve()
      if (state.get() != State.ARMED) {
        return;
      }
      depth = frames();
      striker = Thread.currentThread();
      firstAt = places.getAsLong();
      first = error;
      precise = precise(goal, sites.get(site));
      thrown.set(1);
      state.set(goal.errors() == 1 ? State.RELIEVED : State.STRIKING);
    }
    throw error;
  }

  /** The same hit, counted among those of its place only. */
  private Target precise(Target goal, ErrorSite site) {
    Target place = goal.in(site.place()).of(site.of());
    long count = 0;
    for (int i = 0; i < sites.size(); i++) {
      if (hits.get(i) > 0 && place.matches(sites.get(i))) {
        count += hits.get(i);
      }
    }
    return place.nth(count);
  }

  @SuppressWarnings("ReferenceEquality") // which thread it is
  private void striking(int site) {
    Target goal = target;
    if (goal == null || sites.get(site).kind() != goal.kind()) {
      return;
    }
    if (goal.kind() == ErrorSite.Kind.CALL
        && (Thread.currentThread() != striker || frames() < depth)) {
      return;
    }
    if (isInInitializer()) {
      return;
    }
    Error error = error(goal.kind(), site);
    int now = thrown.incrementAndGet();
    if (now >= goal.errors()) {
      relieve();
    }
    if (now <= goal.errors()) {
      throw error;
    }
  }

  private Error error(ErrorSite.Kind kind, int site) {
    String text = "injected before " + sites.get(site);
    Error error =
        kind == ErrorSite.Kind.CALL ? new StackOverflowError(text) : new OutOfMemoryError(text);
    error.setStackTrace(
        Arrays.stream(error.getStackTrace())
            .dropWhile(frame -> OURS.contains(frame.getClassName()))
            .toArray(StackTraceElement[]::new));
    return error;
  }

  /** A thread of the store begins with an empty stack, which does not end in its first calls. */
  private boolean isPossible(ErrorSite site) {
    return site.kind() != ErrorSite.Kind.CALL || Boolean.TRUE.equals(ofCaller.get());
  }

  /** Whether a thread began outside the store. */
  private boolean beganOutside() {
    String first =
        StackWalker.getInstance()
            .walk(all ->
                all.map(StackWalker.StackFrame::getClassName)
                    .filter(name -> JDK.stream().noneMatch(name::startsWith))
                    .reduce((_, outer) -> outer))
            .orElse("");
    return !sites.isChosen(first);
  }

  /** An error's own trace would end after 1,024 frames. */
  private static boolean isInInitializer() {
    return StackWalker.getInstance()
        .walk(all -> all.anyMatch(frame -> frame.getMethodName().equals(INITIALIZER)));
  }

  /** How many frames the program has on the stack of this thread. */
  private static int frames() {
    return StackWalker.getInstance(StackWalker.Option.SHOW_REFLECT_FRAMES)
        .walk(all -> (int) all.dropWhile(frame -> OURS.contains(frame.getClassName())).count());
  }

  /** From now on nothing is thrown or counted. */
  public synchronized void relieve() {
    state.set(State.RELIEVED);
  }

  /**
   * Returns how many errors were thrown.
   *
   * @return the number so far
   */
  public int thrown() {
    Target goal = target;
    return goal == null ? 0 : Math.min(thrown.get(), goal.errors());
  }

  /**
   * Returns the first error.
   *
   * @return the error, or null if none was thrown
   */
  public @Nullable Error first() {
    return first;
  }

  /**
   * Returns the target that throws the first error again. It has the place of the error and counts
   * the hits of that place only, so what other places do in the next life does not change it.
   *
   * @return the target, or null if no error was thrown
   */
  public @Nullable Target precise() {
    return precise;
  }

  /**
   * Returns the place of the first error.
   *
   * @return 0 if none was thrown
   */
  public long firstAt() {
    return firstAt;
  }

  /**
   * Returns the points of a kind that were counted.
   *
   * @param kind of the points
   * @return the hits of each point; points at the same place for the same class together
   */
  public Map<ErrorSite, Long> counts(ErrorSite.Kind kind) {
    Map<ErrorSite, Long> counts = new LinkedHashMap<>();
    int size = Math.min(sites.size(), hits.length());
    for (int i = 0; i < size; i++) {
      long count = hits.get(i);
      ErrorSite site = sites.get(i);
      if (count > 0 && site.kind() == kind) {
        counts.merge(site, count, Long::sum);
      }
    }
    return counts;
  }
}
