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
 * The transactions that a log of promises tells of, and for each key those that write it. Built
 * once, then asked for any number of crash points.
 *
 * <p>Threads: immutable once built.
 */
final class PromiseIndex {
  /*
   * Building, one life after the other, the events of each by their places:
   *   1  an attempt makes a transaction that waits for the same thread's answer with equal key and value, the newest
   *      first; an answer without one makes a transaction whose window began at that thread's last word (or with the
   *      life). Where the thread's last write of that key was the same and lazy, the answer may mean that one
   *      again (it was flushed since) or another one (a second removal): the window then begins where the first one's
   *      did, which is right for both.
   *   2  a group is attempted at COMMITTING; answered without that, its window began at the thread's last word before
   *      BEGIN.
   *   3  a flush makes durable what this life had accepted lazily before it.
   *   4  last of all, when every writer is known, also those that spoke only later, the durable readers: what they were given
   *      is durable if it has one author only. Who was surely overwritten by something durable when the reader was
   *      asked is no author.
   */

  private final List<PromisedTransaction> transactions = new ArrayList<>();
  private final TreeMap<Bytes, KeyHistory> byKey = new TreeMap<>();
  private final List<Reading> readings = new ArrayList<>();
  private final List<Long> answers = new ArrayList<>();
  private final KeyHistory[] keys;
  private final long[] durables;
  private final long[] owed;
  private final int deaths;
  private final long lastGroup;
  private final int threads;
  private final boolean announces;
  private final boolean removes;

  /** A durable reader was given something at `place`, and had asked for it after `since`. */
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
    this.durables =
        transactions.stream().mapToLong(t -> t.durable).filter(p -> p != NEVER).sorted().toArray();
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
    // Threads take their places and are heard one after the other, not in one step.
    lives.forEach(l -> l.sort(Comparator.comparingLong(event -> by(event).place())));
    return lives;
  }

  /** What is added to the places of each life, so that the last one keeps its own. */
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
    return event instanceof OfGroup
        || (event instanceof OfWrite write && write.what() == Single.ATTEMPT);
  }

  /** The greatest number that a group has in any life. */
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
    long overwritten = Long.MIN_VALUE;
    for (PromisedTransaction writer : history.writers()) {
      if (writer.durable <= reading.since && writer.mayBeThere(reading.place)) {
        overwritten = Math.max(overwritten, writer.attempted);
      }
    }
    PromisedTransaction only = null;
    int authors = reading.value == null && overwritten == Long.MIN_VALUE ? 1 : 0;
    for (PromisedTransaction writer : history.writersOf(reading.value)) {
      if (writer.mayBeThere(reading.place) && writer.decided(reading.place) > overwritten) {
        only = writer;
        authors++;
      }
    }
    if (authors == 1 && only != null) {
      only.durable = Math.min(only.durable, reading.place);
    }
  }

  /**
   * What the last life had under way at a crash point without having said so: it is known from what
   * was said later, and announced here at the place where its window began. All of it as groups, of
   * a thread that says nothing else, so that no answer to something else is taken for theirs.
   */
  List<PromiseEvent> windowsOpenAt(long crash) {
    List<PromiseEvent> announced = new ArrayList<>();
    long group = lastGroup;
    for (PromisedTransaction transaction : transactions) {
      if (transaction.lifeEnded != NEVER
          || transaction.attempted >= crash
          || transaction.told < crash) {
        continue;
      }
      By by = new By(transaction.attempted, /* thread= */ -1, transaction.thread);
      long number = ++group;
      announced.add(new OfGroup(by, number, Step.BEGIN));
      transaction.writes.forEach((key, value) -> announced.add(new Put(by, number, key, value)));
      announced.add(new OfGroup(by, number, Step.COMMITTING));
    }
    return announced;
  }

  /** A key's history, or null if nobody ever spoke of it. */
  @Nullable KeyHistory history(Bytes key) {
    return byKey.get(key);
  }

  /** The keys that somebody spoke of before a place. */
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

  /** How many transactions must be there after a crash at that place. */
  int durableCount(long crash) {
    return before(durables, crash);
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
   * How many keys may hold what nobody can explain: where nothing is announced, a process that dies
   * takes along what it would have said of the one write that each thread was at.
   */
  int tolerance() {
    return announces ? 0 : deaths * threads;
  }

  /** Whether anybody ever spoke of a removal. */
  boolean removes() {
    return removes;
  }

  /** One life while it is read. */
  private final class Life {

    private final int number;
    private final long offset;
    private final long ended;
    private final Map<Long, Long> lastWord = new HashMap<>();
    private final Map<Long, List<PromisedTransaction>> waiting = new HashMap<>();
    private final Map<Long, Map<Bytes, PromisedTransaction>> lastWrite = new HashMap<>();
    private final Map<Long, PromisedTransaction> groups = new HashMap<>();
    private final Map<Long, Long> groupWindows = new HashMap<>();
    private final Set<PromisedTransaction> lazy = new HashSet<>();

    Life(int number, long offset, long ended) {
      this.number = number;
      this.offset = offset;
      this.ended = ended;
    }

    void add(PromiseEvent event) {
      By by = by(event);
      long place = by.place() + offset;
      switch (event) {
        case OfWrite write -> write(write, place);
        case OfGroup group -> group(group, place);
        case Put put -> {
          group(by, put.group(), place).writes.put(put.key(), put.value());
          lastWrites(by).remove(put.key());
        }
        case AllDurable all -> {
          lazy.forEach(transaction -> transaction.durable = Math.min(transaction.durable, place));
          lazy.clear();
          answers.add(place);
        }
        case Crash crash -> throw new IllegalArgumentException(crash + " inside a life");
      }
      lastWord.put(by.thread(), place);
    }

    private void write(OfWrite write, long place) {
      By by = write.by();
      switch (write.what()) {
        case ATTEMPT -> {
          PromisedTransaction attempt = single(write, place);
          waiting.computeIfAbsent(by.thread(), thread -> new ArrayList<>()).add(attempt);
          lastWrites(by).put(write.key(), attempt);
        }
        case DURABLE -> answer(answered(write), true, place);
        case LAZY -> answer(answered(write), false, place);
        case DURABLE_READ -> {
          readings.add(new Reading(window(by), place, write.key(), write.value()));
          answers.add(place);
        }
      }
    }

    /** The transaction that an answer is about. */
    private PromisedTransaction answered(OfWrite answer) {
      By by = answer.by();
      List<PromisedTransaction> open = waiting.getOrDefault(by.thread(), List.of());
      for (int i = open.size() - 1; i >= 0; i--) {
        if (isOf(open.get(i), answer)) {
          return open.remove(i);
        }
      }
      PromisedTransaction last = lastWrites(by).get(answer.key());
      long since = window(by);
      if (last != null && last.answered != NEVER && isOf(last, answer)) {
        since = last.attempted;
      }
      PromisedTransaction single = single(answer, since);
      lastWrites(by).put(answer.key(), single);
      return single;
    }

    private static boolean isOf(PromisedTransaction single, OfWrite write) {
      return single.writes.containsKey(write.key())
          && Objects.equals(single.writes.get(write.key()), write.value());
    }

    private Map<Bytes, PromisedTransaction> lastWrites(By by) {
      return lastWrite.computeIfAbsent(by.thread(), thread -> new HashMap<>());
    }

    private PromisedTransaction single(OfWrite write, long attempted) {
      PromisedTransaction single = begin(write.by(), attempted);
      single.attempted = attempted;
      single.told = write.by().place() + offset;
      single.writes.put(write.key(), write.value());
      return single;
    }

    private PromisedTransaction begin(By by, long begun) {
      PromisedTransaction transaction =
          new PromisedTransaction(transactions.size() + 1, number, ended, by.name(), begun);
      transactions.add(transaction);
      return transaction;
    }

    private void group(OfGroup event, long place) {
      PromisedTransaction group = group(event.by(), event.group(), place);
      switch (event.step()) {
        case BEGIN -> {}
        case COMMITTING -> asked(group, place, place);
        case DURABLE -> {
          asked(group, groupWindows.getOrDefault(event.group(), offset), place);
          answer(group, true, place);
        }
        case LAZY -> {
          asked(group, groupWindows.getOrDefault(event.group(), offset), place);
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
        groupWindows.put(group, window(by));
        known = begin(by, place);
        groups.put(group, known);
      }
      return known;
    }

    /** The store was asked to commit; an answer proves it, where nobody said so before. */
    private static void asked(PromisedTransaction group, long since, long told) {
      if (group.attempted == NEVER) {
        group.attempted = since;
        group.told = told;
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

    /** Since when a thread may have done what it now speaks of. */
    private long window(By by) {
      return lastWord.getOrDefault(by.thread(), offset);
    }
  }
}
