package org.revenantdb.history;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A store in memory with the isolation in its name, and clients that a seed interleaves. Even keys
 * are lists, odd ones registers; a key with many writes often gives way to another. Ranges contain
 * existing keys and some that do not exist yet.
 */
final class Simulation {

  enum Kind {
    /** Each transaction alone, at some place between its beginning and its end. */
    SERIAL,
    /** Reads from the state at its first access; the first committer of a key wins. */
    SNAPSHOT,
    /**
     * Reads what is committed at the moment. A written key is locked, and a transaction that meets
     * a lock gives up.
     */
    READ_COMMITTED
  }

  private static final int SESSIONS = 6;
  private static final int SLOTS = 8;
  private static final int WRITES_OF_A_KEY = 24;
  private static final int LONGEST_RANGE = 6;

  private final Kind kind;
  private final SplittableRandom random;
  private final History.Builder builder = new History.Builder();
  private final Map<Integer, List<Version>> versions = new HashMap<>();
  private final Map<Integer, Integer> locks = new HashMap<>();
  private final int[] keyOfSlot = new int[SLOTS];
  private final int[] writesOfSlot = new int[SLOTS];
  private boolean unknown;
  private boolean lazy;
  private int commits;
  private int nextKey;
  private int nextValue;
  private long place;

  Simulation(Kind kind, long seed) {
    this.kind = kind;
    this.random = new SplittableRandom(seed);
    for (int slot = 0; slot < SLOTS; slot++) {
      keyOfSlot[slot] = nextKey++;
    }
  }

  /** Some commits get no answer. */
  Simulation withUnknown() {
    unknown = true;
    return this;
  }

  /** All commits are lazy. */
  Simulation lazily() {
    lazy = true;
    return this;
  }

  /** The value of a key from a commit on: all values of a list, the last one of a register. */
  private record Version(int commit, List<Integer> values) {}

  private final class Client {

    private final int process;
    private long invoked;
    private int left;
    private int snapshot;
    private boolean doomed;
    private boolean done;
    private boolean inDoubt;
    private final Map<Integer, List<Integer>> own = new HashMap<>();
    private final List<Access> accesses = new ArrayList<>();

    Client(int process) {
      this.process = process;
      left = -1;
    }

    /** Begins, makes one access, commits or answers. */
    boolean step() {
      if (left < 0) {
        invoked = ++place;
        left = random.nextInt(1, 6);
        snapshot = -1;
        done = false;
        doomed = false;
        return false;
      }
      if (!done) {
        do {
          access();
        } while (--left > 0 && kind == Kind.SERIAL);
        if (left > 0) {
          return false;
        }
        commit();
        done = true;
        return false;
      }
      answer();
      return true;
    }

    private void access() {
      snapshot = snapshot < 0 ? commits : snapshot;
      int slot = random.nextInt(SLOTS);
      int key = keyOfSlot[slot];
      if (random.nextInt(8) == 0) {
        int from = Math.max(0, key - random.nextInt(LONGEST_RANGE));
        range(random.nextBoolean(), from, key + 1 + random.nextInt(LONGEST_RANGE));
        return;
      }
      if (random.nextInt(5) < 3) {
        read(key);
        return;
      }
      if (kind == Kind.READ_COMMITTED && locks.getOrDefault(key, process) != process) {
        doomed = true;
        return;
      }
      locks.put(key, process);
      int value = ++nextValue;
      own.computeIfAbsent(key, k -> new ArrayList<>()).add(value);
      accesses.add(isList(key) ? Access.append(key, value) : Access.write(key, value));
      if (++writesOfSlot[slot] == WRITES_OF_A_KEY) {
        writesOfSlot[slot] = 0;
        keyOfSlot[slot] = (nextKey += 2) - nextKey % 2 + slot % 2;
      }
    }

    private void read(int key) {
      List<Integer> seen = seen(key);
      accesses.add(
          isList(key)
              ? new Access.ReadList(key, seen)
              : Access.read(key, seen.isEmpty() ? Access.NIL : seen.getLast()));
    }

    private List<Integer> seen(int key) {
      List<Integer> seen = new ArrayList<>(committed(key));
      seen.addAll(own.getOrDefault(key, List.of()));
      return seen;
    }

    private void range(boolean ofLists, int from, int to) {
      List<Access.ReadList> lists = new ArrayList<>();
      List<Access.ReadRegister> registers = new ArrayList<>();
      for (int key = from; key < to; key++) {
        List<Integer> seen = isList(key) == ofLists ? seen(key) : List.of();
        if (!seen.isEmpty() && ofLists) {
          lists.add(new Access.ReadList(key, seen));
        } else if (!seen.isEmpty()) {
          registers.add(new Access.ReadRegister(key, seen.getLast()));
        }
      }
      accesses.add(
          ofLists
              ? new Access.ReadLists(from, to, lists)
              : new Access.ReadRegisters(from, to, registers));
    }

    private List<Integer> committed(int key) {
      int at = kind == Kind.SNAPSHOT ? snapshot : commits;
      List<Integer> found = List.of();
      for (Version version : versions.getOrDefault(key, List.of())) {
        if (version.commit <= at) {
          found = version.values;
        }
      }
      return found;
    }

    private void commit() {
      for (int key : own.keySet()) {
        List<Version> all = versions.getOrDefault(key, List.of());
        doomed |= kind == Kind.SNAPSHOT && !all.isEmpty() && all.getLast().commit > snapshot;
      }
      doomed |= random.nextInt(12) == 0;
      inDoubt = unknown && random.nextInt(12) == 0;
      if (!doomed) {
        commits++;
        own.forEach((key, values) -> {
          List<Version> all = versions.computeIfAbsent(key, k -> new ArrayList<>());
          List<Integer> now = new ArrayList<>();
          if (isList(key) && !all.isEmpty()) {
            now.addAll(all.getLast().values);
          }
          now.addAll(values);
          all.add(new Version(commits, now));
        });
      }
      own.keySet().forEach(key -> locks.remove(key, process));
    }

    /** Clients stop waiting: the commits so far may have been seen. */
    void abandon() {
      if (left >= 0) {
        inDoubt = done;
        doomed = !done;
        answer();
      }
    }

    private void answer() {
      TransactionOutcome outcome =
          inDoubt
              ? TransactionOutcome.UNKNOWN
              : doomed
                  ? TransactionOutcome.ABORTED
                  : lazy ? TransactionOutcome.LAZY : TransactionOutcome.DURABLE;
      builder.add(process, invoked, ++place, outcome, accesses.toArray(new Access[0]));
      own.clear();
      accesses.clear();
      left = -1;
    }
  }

  static boolean isList(int key) {
    return key % 2 == 0;
  }

  /** A number of transactions. */
  History run(int transactions) {
    live(transactions, null);
    return builder.build();
  }

  /**
   * A life, a crash that takes all but a number of commits, and another life on the rest.
   *
   * @param surviving maps the number of commits to the number that survive
   */
  History runWithCrash(int transactions, java.util.function.IntUnaryOperator surviving) {
    live(transactions, null);
    int left = surviving.applyAsInt(commits);
    versions.values().forEach(all -> all.removeIf(version -> version.commit > left));
    builder.crashed(++place);
    place++;
    locks.clear();
    live(transactions, versions);
    return builder.build();
  }

  private void live(int transactions, @Nullable Map<Integer, List<Version>> before) {
    if (before != null) {
      Client first = new Client(SESSIONS);
      first.invoked = ++place;
      first.snapshot = commits;
      before.keySet().stream().filter(key -> !isList(key)).forEach(first::read);
      first.range(/* ofLists= */ true, 0, Collections.max(before.keySet()) + 1);
      first.answer();
    }
    List<Client> clients = new ArrayList<>();
    for (int process = 0; process < SESSIONS; process++) {
      clients.add(new Client(process));
    }
    int ended = 0;
    while (ended < transactions) {
      ended += clients.get(random.nextInt(SESSIONS)).step() ? 1 : 0;
    }
    clients.forEach(Client::abandon);
  }
}
