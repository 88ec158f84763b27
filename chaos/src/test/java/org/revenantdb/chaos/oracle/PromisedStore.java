package org.revenantdb.chaos.oracle;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.PromiseEvent.AllDurable;
import org.revenantdb.chaos.oracle.PromiseEvent.By;
import org.revenantdb.chaos.oracle.PromiseEvent.OfGroup;
import org.revenantdb.chaos.oracle.PromiseEvent.OfWrite;
import org.revenantdb.chaos.oracle.PromiseEvent.Put;
import org.revenantdb.chaos.oracle.PromiseEvent.Single;
import org.revenantdb.chaos.oracle.PromiseEvent.Step;

/**
 * A simulated store: clients whose steps a generator interleaves, their reports, and the states
 * that a crash may leave.
 *
 * <p>It does not use the oracle's rules. What is legal follows from the operations of the store:
 * each transaction commits at a place of its own, which gives the order of effects. A crash leaves
 * any set of committed transactions that contains all promised ones and, with each transaction,
 * those that had finished before its commit was requested.
 */
final class PromisedStore {

  /** A transaction as the store knows it. */
  static final class Tx {
    final Map<Bytes, @Nullable Bytes> writes = new LinkedHashMap<>();
    long asked = Long.MAX_VALUE;
    long committed = Long.MAX_VALUE;
    long finished = Long.MAX_VALUE;
    long promised = Long.MAX_VALUE;

    /** A promise that identifies its write, unlike a reader that found no value. */
    boolean bound;

    boolean announced;
    long answeredAt = Long.MAX_VALUE;
    boolean lazy;
  }

  /** The behaviour of clients. */
  record Habits(int clients, boolean doubt, boolean unannounced) {}

  private final RandomGenerator random;
  private final Habits habits;
  private final int keys;
  private final Map<Bytes, Bytes> start;
  private final String values;
  private final List<Deque<Runnable>> clients = new ArrayList<>();
  private final Map<Integer, Long> lastWords = new HashMap<>();
  private long clock;
  private long lastGroup;
  private int lastValue;

  final List<PromiseEvent> said = new ArrayList<>();

  /** In the order in which they committed. */
  final List<Tx> committed = new ArrayList<>();

  final List<Tx> rolledBack = new ArrayList<>();

  PromisedStore(
      RandomGenerator random, Habits habits, Map<Bytes, Bytes> start, int life, long lastGroup) {
    this.random = random;
    this.habits = habits;
    this.keys = random.nextInt(1, 6);
    this.start = start;
    this.values = "life" + life + ".";
    this.lastGroup = lastGroup;
    for (int i = 0; i < habits.clients; i++) {
      clients.add(new ArrayDeque<>());
    }
  }

  long now() {
    return clock;
  }

  /** Lets clients take steps in any order, and finish their present work. */
  void run(int steps) {
    for (int i = 0; i < steps; i++) {
      step(random.nextInt(clients.size()));
    }
    for (int i = 0; i < clients.size(); i++) {
      while (!clients.get(i).isEmpty()) {
        clients.get(i).remove().run();
      }
    }
  }

  private void step(int client) {
    Deque<Runnable> todo = clients.get(client);
    if (todo.isEmpty()) {
      plan(client, todo);
    }
    todo.remove().run();
  }

  private void plan(int client, Deque<Runnable> todo) {
    switch (random.nextInt(10)) {
      case 0, 1, 2, 3 -> single(client, todo);
      case 4, 5, 6 -> group(client, todo);
      case 7 -> row(client, todo);
      case 8 -> flush(client, todo);
      default -> read(client, todo);
    }
  }

  private void single(int client, Deque<Runnable> todo) {
    Tx tx = new Tx();
    Bytes key = key();
    Bytes value = value();
    tx.writes.put(key, value);
    if (!habits.unannounced || random.nextBoolean()) {
      tx.announced = true;
      todo.add(() -> said.add(new OfWrite(by(client), Single.ATTEMPT, key, value)));
      if (doubts()) {
        if (random.nextBoolean()) {
          commit(tx, todo);
        }
        return;
      }
    }
    commit(tx, todo);
    boolean lazy = random.nextBoolean();
    todo.add(() -> {
      By by = by(client);
      said.add(new OfWrite(by, lazy ? Single.LAZY : Single.DURABLE, key, value));
      answered(tx, lazy, by.place());
    });
  }

  /** Writes that are all made before the first of them is reported. */
  private void row(int client, Deque<Runnable> todo) {
    if (!habits.unannounced) {
      group(client, todo);
      return;
    }
    List<Runnable> words = new ArrayList<>();
    for (int i = random.nextInt(2, 4); i > 0; i--) {
      Tx tx = new Tx();
      Bytes key = key();
      Bytes value = value();
      boolean lazy = random.nextBoolean();
      tx.writes.put(key, value);
      commit(tx, todo);
      words.add(() -> {
        By by = by(client);
        said.add(new OfWrite(by, lazy ? Single.LAZY : Single.DURABLE, key, value));
        answered(tx, lazy, by.place());
      });
    }
    todo.addAll(words);
  }

  private void group(int client, Deque<Runnable> todo) {
    Tx tx = new Tx();
    long number = ++lastGroup;
    boolean announced = !habits.unannounced || random.nextInt(4) > 0;
    tx.announced = announced;
    List<Runnable> words = new ArrayList<>();
    words.add(() -> said.add(new OfGroup(by(client), number, Step.BEGIN)));
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      Bytes key = key();
      Bytes value = value();
      tx.writes.put(key, value);
      words.add(() -> said.add(new Put(by(client), number, key, value)));
    }
    if (announced) {
      todo.addAll(words);
      boolean asks = random.nextInt(8) > 0;
      if (asks) {
        todo.add(() -> said.add(new OfGroup(by(client), number, Step.COMMITTING)));
      }
      if (!asks || random.nextInt(8) == 0) {
        todo.add(() -> {
          said.add(new OfGroup(by(client), number, Step.ROLLED_BACK));
          rolledBack.add(tx);
        });
        return;
      }
      if (doubts()) {
        if (random.nextBoolean()) {
          commit(tx, todo);
        }
        return;
      }
    }
    commit(tx, todo);
    if (!announced) {
      todo.addAll(words);
    }
    boolean lazy = random.nextBoolean();
    todo.add(() -> {
      By by = by(client);
      said.add(new OfGroup(by, number, lazy ? Step.LAZY : Step.DURABLE));
      answered(tx, lazy, by.place());
    });
    if (lazy && random.nextInt(4) == 0) {
      todo.add(() -> {
        By by = by(client);
        said.add(new OfGroup(by, number, Step.DURABLE));
        promise(tx, by.place());
      });
    }
  }

  private void commit(Tx tx, Deque<Runnable> todo) {
    todo.add(() -> tx.asked = ++clock);
    todo.add(() -> {
      tx.committed = ++clock;
      committed.add(tx);
    });
    todo.add(() -> tx.finished = ++clock);
  }

  private static void answered(Tx tx, boolean lazy, long place) {
    tx.answeredAt = place;
    tx.lazy = lazy;
    if (!lazy) {
      promise(tx, place);
    }
  }

  private static void promise(Tx tx, long place) {
    tx.promised = Math.min(tx.promised, place);
    tx.bound = true;
  }

  /**
   * A flush promises everything answered before the client's last report; other clients continue
   * meanwhile.
   */
  private void flush(int client, Deque<Runnable> todo) {
    List<Tx> flushed = new ArrayList<>();
    todo.add(() -> {
      long last = lastWords.getOrDefault(client, 0L);
      committed.stream().filter(tx -> tx.answeredAt <= last).forEach(flushed::add);
    });
    todo.add(() -> {
      By by = by(client);
      said.add(new AllDurable(by));
      flushed.forEach(tx -> promise(tx, by.place()));
    });
  }

  /** A durable reader waits until the value that it read is durable. */
  private void read(int client, Deque<Runnable> todo) {
    Bytes key = key();
    List<Tx> seen = new ArrayList<>();
    todo.add(() -> {
      seen.addAll(committed);
      clock++;
    });
    todo.add(() -> {
      By by = by(client);
      Bytes value = apply(seen).get(key);
      said.add(new OfWrite(by, Single.DURABLE_READ, key, value));
      for (Tx tx : seen.reversed()) {
        if (tx.writes.containsKey(key)) {
          tx.promised = Math.min(tx.promised, by.place());
          tx.bound |= value != null;
          break;
        }
      }
    });
  }

  private boolean doubts() {
    return habits.doubt && random.nextInt(6) == 0;
  }

  private By by(int client) {
    lastWords.put(client, ++clock);
    return new By(clock, client, "client " + client);
  }

  private Bytes key() {
    return Bytes.of("k" + random.nextInt(keys));
  }

  private @Nullable Bytes value() {
    return random.nextInt(5) == 0 ? null : Bytes.of(values + ++lastValue);
  }

  /** A random legal state after a crash. */
  List<Tx> survivors(long crash) {
    List<Tx> possible = committed.stream().filter(tx -> tx.committed < crash).toList();
    Set<Tx> chosen = new HashSet<>();
    int mood = random.nextInt(3);
    for (int i = possible.size() - 1; i >= 0; i--) {
      Tx tx = possible.get(i);
      boolean owed = tx.promised < crash;
      boolean lucky = mood == 0 ? random.nextBoolean() : mood == 1;
      boolean needed = chosen.stream().anyMatch(later -> tx.finished < later.asked);
      if (owed || needed || lucky) {
        chosen.add(tx);
      }
    }
    return possible.stream().filter(chosen::contains).toList();
  }

  /** The content that results from these transactions on top of the start. */
  Map<Bytes, Bytes> apply(List<Tx> survivors) {
    Map<Bytes, Bytes> content = new TreeMap<>(start);
    for (Tx tx : survivors) {
      tx.writes.forEach((key, value) -> {
        if (value == null) {
          content.remove(key);
        } else {
          content.put(key, value);
        }
      });
    }
    return content;
  }
}
