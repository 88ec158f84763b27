package org.revenantdb.chaos.oracle;

import static org.revenantdb.chaos.oracle.PromisedTransaction.NEVER;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.PromiseEvent.AllDurable;
import org.revenantdb.chaos.oracle.PromiseEvent.By;
import org.revenantdb.chaos.oracle.PromiseEvent.Crash;
import org.revenantdb.chaos.oracle.PromiseEvent.OfGroup;
import org.revenantdb.chaos.oracle.PromiseEvent.OfWrite;
import org.revenantdb.chaos.oracle.PromiseEvent.Put;
import org.revenantdb.chaos.oracle.PromiseEvent.Single;
import org.revenantdb.chaos.oracle.PromiseEvent.Step;

/**
 * The transactions in a log of promises, and for each key its writers. Built once, then queried for
 * any number of crash points.
 *
 * <p>Threads: immutable once built.
 */
final class PromiseIndex {
  /*
   * Building, one life after the other, the events of each life by their places:
   *   1  An attempt makes a transaction that waits for the answer of the same thread with equal key
   *      and value, the newest attempt first. An answer without an attempt makes a transaction
   *      whose window began with the life, because its thread may have made several writes before
   *      it reports the first. If the thread had written the same value lazily before, the answer
   *      may mean that write (flushed since) or another one (a second removal). The window is then
   *      that of the first, which is right for both.
   *   2  A group is attempted at COMMITTING. If it is answered without that, its window began with
   *      the life.
   *   3  A flush makes durable what this life had accepted lazily before the previous report of its
   *      thread.
   *   4  A value found by a check of the recovered store is a durable transaction of one write, at
   *      one place. Nothing else runs then, so the windows of this life begin behind it.
   *   5  The durable readers come last, when every writer is known, including those that were
   *      reported later. A reader began behind the last report of its thread that was not such a
   *      read (several may belong to one snapshot). A transaction that comes before one that was
   *      answered by then is not an author. If one author is left it is durable; of several one is.
   */

  private final List<PromisedTransaction> transactions = new ArrayList<>();
  private final TreeMap<Bytes, KeyHistory> byKey = new TreeMap<>();
  private final List<Reading> readings = new ArrayList<>();
  private final List<Long> answers = new ArrayList<>();
  private final KeyHistory[] keys;
  private final long[] owed;
  private final int deaths;
  private final long lastGroup;
  private final int threads;
  private final boolean announces;
  private final boolean removes;

  /** The thread that reports, in a copy, what was under way and had not been announced. */
  private static final long UNDER_WAY = -1;

  /** The thread that reports what a check found. */
  static final long LOOK = -2;

  /** Threads with this number or a lower one are not threads of a subject. */
  private static final long HANDED_OVER = -3;

  /** A durable reader saw a value, reported at `place`, and had begun after `since`. */
  private record Reading(long since, long place, Bytes key, @Nullable Bytes value) {}

  /**
   * Reads a log.
   *
   * @param events of all lives
   * @param death whether the last life ended with its process
   */
  PromiseIndex(List<PromiseEvent> events, boolean death) {
    List<List<PromiseEvent>> lives = lives(events);
    long[] offsets = offsets(lives);
    int mostThreads = 1;
    for (int i = 0; i < lives.size(); i++) {
      long ended = i + 1 < lives.size() ? offsets[i + 1] : NEVER;
      Life life = new Life(i, offsets[i], ended);
      lives.get(i).forEach(life::add);
      mostThreads = Math.max(mostThreads, life.lastWord.size());
    }
    this.threads = mostThreads;
    this.lastGroup = lastGroup(events);
    this.deaths =
        (int) events.stream().filter(e -> e instanceof Crash(boolean d) && d).count()
            + (death ? 1 : 0);
    this.announces = events.stream().anyMatch(PromiseIndex::announces);
    for (PromisedTransaction transaction : transactions) {
      transaction.writes.forEach(
          (key, value) -> byKey.computeIfAbsent(key, KeyHistory::new).add(transaction, value));
    }
    byKey.values().forEach(KeyHistory::sort);
    readings.forEach(this::witness);
    this.removes = byKey.values().stream().anyMatch(history -> !history.writersOf(null).isEmpty());
    this.keys = byKey.values().toArray(KeyHistory[]::new);
    Arrays.sort(keys, Comparator.comparingLong(KeyHistory::begun));
    Collections.sort(answers);
    this.owed = answers.stream().mapToLong(Long::longValue).toArray();
  }

  private static List<List<PromiseEvent>> lives(List<PromiseEvent> events) {
    List<List<PromiseEvent>> lives = new ArrayList<>();
    List<PromiseEvent> life = new ArrayList<>();
    lives.add(life);
    for (PromiseEvent event : events) {
      if (event instanceof Crash) {
        life = new ArrayList<>();
        lives.add(life);
      } else {
        life.add(event);
      }
    }
    // Threads take their places and add their events in two steps.
    lives.forEach(l -> l.sort(Comparator.comparingLong(event -> by(event).place())));
    return lives;
  }

  /** The offsets of the places of each life, so that the last life keeps its own. */
  private static long[] offsets(List<List<PromiseEvent>> lives) {
    long[] offsets = new long[lives.size()];
    for (int i = lives.size() - 2; i >= 0; i--) {
      List<PromiseEvent> life = lives.get(i);
      long last = life.isEmpty() ? 0 : by(life.getLast()).place();
      offsets[i] = offsets[i + 1] - last - 1;
    }
    return offsets;
  }

  static By by(PromiseEvent event) {
    return switch (event) {
      case OfWrite write -> write.by();
      case OfGroup group -> group.by();
      case Put put -> put.by();
      case AllDurable all -> all.by();
      case Crash crash -> throw new IllegalArgumentException(crash + " has no place");
    };
  }

  private static boolean announces(PromiseEvent event) {
    return (event instanceof OfGroup group && group.by().thread() != UNDER_WAY)
        || (event instanceof OfWrite write && write.what() == Single.ATTEMPT);
  }

  /** The greatest number of a group in any life. */
  static long lastGroup(List<PromiseEvent> events) {
    long last = 0;
    for (PromiseEvent event : events) {
      last = event instanceof OfGroup group ? Math.max(last, group.group()) : last;
    }
    return last;
  }

  private void witness(Reading reading) {
    KeyHistory history = byKey.get(reading.key);
    if (history == null) {
      return;
    }
    List<PromisedTransaction> overwriting = overwritingBefore(reading, history);
    List<PromisedTransaction> authors = new ArrayList<>();
    for (PromisedTransaction writer : history.writersOf(reading.value)) {
      if (writer.mayBeThere(reading.place)
          && overwriting.stream().noneMatch(w -> writer.isBefore(w, reading.place))) {
        authors.add(writer);
      }
    }
    if (authors.isEmpty() || (reading.value == null && overwriting.isEmpty())) {
      return;
    }
    if (authors.size() == 1) {
      PromisedTransaction only = authors.getFirst();
      only.durable = Math.min(only.durable, reading.place);
      return;
    }
    long since = authors.stream().mapToLong(author -> author.attempted).min().orElseThrow();
    history.add(new KeyHistory.Witness(reading.place, reading.value, since));
  }

  /**
   * The transactions that had been answered when a reader began, and so come before what it read,
   * or are it. Of those that follow one another the last is enough.
   */
  private static List<PromisedTransaction> overwritingBefore(Reading reading, KeyHistory history) {
    PromisedTransaction newest = null;
    Map<Long, PromisedTransaction> spokenOf = new HashMap<>();
    for (PromisedTransaction writer : history.writers()) {
      // A write that was only accepted may have been lost by a crash since.
      boolean answered = writer.answered <= reading.since && writer.lifeEnded >= reading.place;
      boolean isThere = answered || writer.durable <= reading.since;
      if (!isThere || !writer.mayBeThere(reading.place)) {
        continue;
      }
      if (newest == null || writer.attempted >= newest.attempted) {
        newest = writer;
      }
      if (!writer.announced && writer.lifeEnded >= reading.place) {
        spokenOf.merge(writer.threadId, writer, (a, b) -> a.spoken >= b.spoken ? a : b);
      }
    }
    List<PromisedTransaction> overwriting = new ArrayList<>(spokenOf.values());
    if (newest != null) {
      overwriting.add(newest);
    }
    return overwriting;
  }

  /**
   * What the last life had under way at a crash point without an announcement. It is known from
   * later reports, and announced here at the place where its window began. All of it becomes groups
   * of a thread without other reports, so that no answer to something else matches them. If nothing
   * is announced, this is everything that the life ever did later.
   */
  List<PromiseEvent> windowsOpenAt(long crash) {
    return announced(crash, crash);
  }

  /** Everything that the last life reported at a place or later without an announcement. */
  List<PromiseEvent> unannouncedFrom(long place) {
    return announced(place, NEVER);
  }

  private List<PromiseEvent> announced(long told, long attempted) {
    List<PromiseEvent> announced = new ArrayList<>();
    long group = lastGroup;
    for (PromisedTransaction transaction : transactions) {
      if (transaction.lifeEnded != NEVER
          || transaction.attempted >= Math.min(attempted, transaction.told)
          || transaction.told < told) {
        continue;
      }
      By by = new By(transaction.attempted, UNDER_WAY, transaction.thread);
      long number = ++group;
      announced.add(new OfGroup(by, number, Step.BEGIN));
      transaction.writes.forEach((key, value) -> announced.add(new Put(by, number, key, value)));
      announced.add(new OfGroup(by, number, Step.COMMITTING));
    }
    return announced;
  }

  /** All of them, in the order of their first reports. */
  List<PromisedTransaction> transactions() {
    return transactions;
  }

  /** A key's history, or null if there is no report about it. */
  @Nullable KeyHistory history(Bytes key) {
    return byKey.get(key);
  }

  /** The keys with a report before a place. */
  List<KeyHistory> keysBefore(long place) {
    int low = 0;
    int high = keys.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (keys[middle].begun() < place) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return Arrays.asList(keys).subList(0, low);
  }

  /**
   * Whether a key with this value cannot have another one: its last writer is known and must be
   * there.
   */
  boolean isDecided(Bytes key, @Nullable Bytes value, long crash) {
    KeyHistory history = byKey.get(key);
    if (history == null) {
      return false;
    }
    List<PromisedTransaction> candidates =
        history.writers().subList(0, history.attemptedBefore(crash)).stream()
            .filter(writer -> writer.mayBeThere(crash))
            .toList();
    if (candidates.isEmpty()) {
      return value == null;
    }
    PromisedTransaction last = candidates.getLast();
    return last.mustBeThere(crash)
        && Objects.equals(last.writes.get(key), value)
        && candidates.stream().allMatch(writer -> writer == last || writer.isBefore(last, crash));
  }

  /** How many values two or more transactions have in common. */
  int repeated() {
    return byKey.values().stream().mapToInt(KeyHistory::repeated).sum();
  }

  /** How many answers of any kind had been given. */
  int answerCount(long crash) {
    return before(owed, crash);
  }

  /** The places of the answers in the last life. */
  List<Long> answerPlaces() {
    return answers.stream().filter(place -> place > 0).distinct().toList();
  }

  private static int before(long[] places, long crash) {
    int found = Arrays.binarySearch(places, crash);
    int at = found < 0 ? -found - 1 : found;
    while (at > 0 && places[at - 1] == crash) {
      at--;
    }
    return at;
  }

  /**
   * How many keys may hold a value that cannot be explained. If nothing is announced, the report
   * about the one write under way in each thread is lost with the process.
   */
  int tolerance() {
    return announces ? 0 : deaths * threads;
  }

  /** Whether there is a report about a removal. */
  boolean removes() {
    return removes;
  }

  /** One life during the building. */
  private final class Life {

    private final int number;
    private final long offset;
    private final long ended;
    private final Long2LongHashMap lastWord = new Long2LongHashMap(NEVER);
    private final Long2LongHashMap lastWordButReads = new Long2LongHashMap(NEVER);
    private final Long2ObjectHashMap<List<PromisedTransaction>> waiting =
        new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<Map<Bytes, PromisedTransaction>> lastWrite =
        new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<Map<Bytes, Map<Bytes, PromisedTransaction>>> values =
        new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<PromisedTransaction> groups = new Long2ObjectHashMap<>();
    private final Set<PromisedTransaction> lazy = new HashSet<>();

    /** The place from which on work may have been under way. */
    private long began;

    Life(int number, long offset, long ended) {
      this.number = number;
      this.offset = offset;
      this.ended = ended;
      this.began = offset;
    }

    void add(PromiseEvent event) {
      By by = by(event);
      long place = by.place() + offset;
      if (event instanceof OfWrite write && write.what() == Single.FOUND) {
        found(write, place);
        return;
      }
      switch (event) {
        case OfWrite write -> write(write, place);
        case OfGroup group -> group(group, place);
        case Put put -> {
          group(by, put.group(), place).writes.put(put.key(), put.value());
          lastWrites(by).remove(put.key());
        }
        case AllDurable all -> flushed(window(by), place);
        case Crash crash -> throw new IllegalArgumentException(crash + " inside a life");
      }
      if (by.thread() != UNDER_WAY) {
        lastWord.put(by.thread(), place);
      }
      if (!(event instanceof OfWrite read && read.what() == Single.DURABLE_READ)) {
        lastWordButReads.put(by.thread(), place);
      }
    }

    /** It has no window: it is the state of the store just before its place. */
    private void found(OfWrite found, long place) {
      PromisedTransaction state = begin(found.by(), place - 1);
      state.attempted = place - 1;
      state.told = place - 1;
      state.announced = true;
      state.again = true;
      state.writes.put(found.key(), found.value());
      answer(state, true, place);
      began = place;
    }

    private void flushed(long since, long place) {
      lazy.removeIf(transaction -> {
        if (transaction.answered > since) {
          return false;
        }
        transaction.durable = Math.min(transaction.durable, place);
        return true;
      });
      answers.add(place);
    }

    private void write(OfWrite write, long place) {
      By by = write.by();
      switch (write.what()) {
        case ATTEMPT -> {
          PromisedTransaction attempt = single(write, place, /* announced= */ true);
          waiting.computeIfAbsent(by.thread(), thread -> new ArrayList<>()).add(attempt);
          lastWrites(by).put(write.key(), attempt);
          noteValue(attempt, write);
        }
        case DURABLE -> answer(answered(write), true, place);
        case LAZY -> answer(answered(write), false, place);
        case DURABLE_READ -> {
          long since = lastWordButReads.getOrDefault(by.thread(), began);
          readings.add(new Reading(since, place, write.key(), write.value()));
          answers.add(place);
        }
        case FOUND -> throw new IllegalArgumentException(write + " is not a report of a thread");
      }
    }

    /** The transaction that an answer belongs to. */
    private PromisedTransaction answered(OfWrite answer) {
      By by = answer.by();
      List<PromisedTransaction> open = waiting.getOrDefault(by.thread(), List.of());
      for (int i = open.size() - 1; i >= 0; i--) {
        if (isOf(open.get(i), answer)) {
          return open.remove(i);
        }
      }
      PromisedTransaction known = flushedSince(answer);
      PromisedTransaction single = single(answer, began, /* announced= */ false);
      if (known != null) {
        single.attempted = known.attempted;
        single.announced = known.announced;
        single.spoken = known.spoken;
        single.again = true;
      }
      lastWrites(by).put(answer.key(), single);
      noteValue(single, answer);
      return single;
    }

    /**
     * An earlier lazy write that an answer may belong to. A value identifies it. A removal can only
     * mean the last write of the key.
     */
    private @Nullable PromisedTransaction flushedSince(OfWrite answer) {
      PromisedTransaction last = lastWrites(answer.by()).get(answer.key());
      if (last != null && last.answered != NEVER && isOf(last, answer)) {
        return last;
      }
      if (answer.value() == null || answer.what() != Single.DURABLE) {
        return null;
      }
      PromisedTransaction same =
          values
              .getOrDefault(answer.by().thread(), Map.of())
              .getOrDefault(answer.key(), Map.of())
              .get(answer.value());
      return same != null && same.answered != NEVER && same.durable == NEVER ? same : null;
    }

    /** Notes the first transaction with a value, because that is the one that was accepted. */
    private void noteValue(PromisedTransaction single, OfWrite write) {
      Bytes value = write.value();
      if (value != null && !single.again) {
        values
            .computeIfAbsent(write.by().thread(), thread -> new HashMap<>())
            .computeIfAbsent(write.key(), key -> new HashMap<>())
            .put(value, single);
      }
    }

    private static boolean isOf(PromisedTransaction single, OfWrite write) {
      return single.writes.containsKey(write.key())
          && Objects.equals(single.writes.get(write.key()), write.value());
    }

    private Map<Bytes, PromisedTransaction> lastWrites(By by) {
      return lastWrite.computeIfAbsent(by.thread(), thread -> new HashMap<>());
    }

    private PromisedTransaction single(OfWrite write, long attempted, boolean announced) {
      PromisedTransaction single = begin(write.by(), attempted);
      single.attempted = attempted;
      single.announced = announced;
      single.told = write.by().place() + offset;
      single.spoken = single.told;
      single.writes.put(write.key(), write.value());
      return single;
    }

    private PromisedTransaction begin(By by, long begun) {
      PromisedTransaction transaction =
          new PromisedTransaction(
              transactions.size() + 1, number, ended, by.thread(), by.name(), begun);
      transactions.add(transaction);
      return transaction;
    }

    private void group(OfGroup event, long place) {
      PromisedTransaction group = group(event.by(), event.group(), place);
      switch (event.step()) {
        case BEGIN -> {}
        case COMMITTING -> asked(group, place, place, /* announced= */ true);
        case DURABLE -> {
          spokenOfBy(event.by(), group);
          asked(group, began, place, /* announced= */ false);
          answer(group, true, place);
        }
        case LAZY -> {
          spokenOfBy(event.by(), group);
          asked(group, began, place, /* announced= */ false);
          answer(group, false, place);
        }
        case ROLLED_BACK -> {
          group.rolledBack = Math.min(group.rolledBack, place);
          answers.add(place);
        }
      }
    }

    private PromisedTransaction group(By by, long group, long place) {
      PromisedTransaction known = groups.get(group);
      if (known == null) {
        known = begin(by, place);
        groups.put(group, known);
      }
      return known;
    }

    private static void spokenOfBy(By by, PromisedTransaction group) {
      if (by.thread() != group.threadId) {
        group.threadId = HANDED_OVER - group.number;
      }
    }

    /** The store was asked to commit. The answer proves it if it was not announced. */
    private static void asked(PromisedTransaction group, long since, long told, boolean announced) {
      if (group.attempted == NEVER) {
        group.attempted = since;
        group.told = told;
        group.spoken = told;
        group.announced = announced;
      }
    }

    private void answer(PromisedTransaction transaction, boolean durably, long place) {
      transaction.answered = Math.min(transaction.answered, place);
      if (durably) {
        transaction.durable = Math.min(transaction.durable, place);
        lazy.remove(transaction);
      } else if (transaction.durable == NEVER) {
        lazy.add(transaction);
      }
      answers.add(place);
    }

    /** The place of a thread's last report, or the beginning of the life. */
    private long window(By by) {
      return lastWord.getOrDefault(by.thread(), began);
    }
  }
}
