package org.revenantdb.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The operations of a store's clients and their answers, over one or more lives of the store.
 * Immutable.
 *
 * <p>Places order events: a transaction that completed at a smaller place than another one was
 * invoked at had ended before that one began. A <em>life</em> ends in a crash or when the store is
 * closed in order. After a crash, transactions acknowledged as {@link TransactionOutcome#DURABLE}
 * must be there in the next life. Transactions acknowledged as {@link TransactionOutcome#LAZY} may
 * be lost, but only together with everything that came after them. One of {@link
 * TransactionOutcome#UNKNOWN} outcome may take effect until the end of its life.
 *
 * <p>Threads: any.
 */
public final class History {

  /** The place of an event that did not happen. */
  public static final long NEVER = Long.MAX_VALUE;

  /** The line of an event that is in no file, or not in this one. */
  static final int NO_LINE = 0;

  private final Builder columns;
  private final TransactionOutcome[] outcomes;

  private History(Builder columns) {
    this.columns = columns;
    this.outcomes = new TransactionOutcome[columns.size()];
    for (int t = 0; t < outcomes.length; t++) {
      outcomes[t] = resolve(t);
    }
  }

  /** A lazy answer before a flush that ended in the same life counts as durable. */
  private TransactionOutcome resolve(int t) {
    TransactionOutcome said = columns.outcomes.get(t);
    if (said == TransactionOutcome.LAZY) {
      for (Flush flush : columns.flushes) {
        if (flush.life == life(t) && completed(t) <= flush.since) {
          return TransactionOutcome.DURABLE;
        }
      }
    }
    return said;
  }

  /** Transactions acknowledged lazily at or before one place are durable from another place on. */
  private record Flush(int life, long since, long done) {}

  /** The end of a life. */
  private record End(long place, boolean inOrder) {}

  /**
   * Returns the number of transactions.
   *
   * @return the number
   */
  public int size() {
    return outcomes.length;
  }

  /**
   * Returns the number of lives, including the last one, whether it has ended or not.
   *
   * @return 1 or more
   */
  public int lives() {
    return columns.ends.size() + 1;
  }

  /**
   * Returns a transaction.
   *
   * @param t its number, from 0
   * @return the transaction; a lazy one that was flushed is durable
   */
  public RecordedTransaction transaction(int t) {
    List<Access> list = new ArrayList<>();
    for (int a = firstAccess(t); a < firstAccess(t + 1); a = accesses().next(a)) {
      list.add(accesses().get(a));
    }
    return new RecordedTransaction(
        process(t), life(t), invoked(t), asked(t), completed(t), outcome(t), list);
  }

  int process(int t) {
    return columns.processes.get(t);
  }

  int life(int t) {
    return columns.lives.get(t);
  }

  long invoked(int t) {
    return columns.places[3 * t];
  }

  long asked(int t) {
    return columns.places[3 * t + 1];
  }

  long completed(int t) {
    return columns.places[3 * t + 2];
  }

  TransactionOutcome outcome(int t) {
    return outcomes[t];
  }

  /** Where its accesses begin; they end where those of the next one begin. */
  int firstAccess(int t) {
    return columns.firsts.get(t);
  }

  Accesses accesses() {
    return columns.accesses;
  }

  /**
   * Returns the name of a key.
   *
   * @param key the key
   * @return the name that it was given, by a file too, or else its digits
   */
  public String keyName(int key) {
    return columns.keyNames.getOrDefault(key, Integer.toString(key));
  }

  /** A key as it is in a file: no other key has this text. */
  String keyText(int key) {
    return columns.keyTexts.getOrDefault(key, Integer.toString(key));
  }

  /**
   * The place behind which a transaction has taken effect or never will. Nothing tells that of one
   * of unknown outcome before its life ends, and everything in flight ends with its life.
   */
  long settled(int t) {
    long end = endOf(life(t));
    return outcome(t) == TransactionOutcome.UNKNOWN ? end : Math.min(completed(t), end);
  }

  /** From where to where a transaction went: lines if it was read from a file, or else places. */
  String extent(int t) {
    int from = columns.lines.get(2 * t);
    int to = columns.lines.get(2 * t + 1);
    if (from == NO_LINE && to == NO_LINE) {
      return invoked(t) + " to " + (completed(t) == NEVER ? "?" : completed(t));
    }
    return from == NO_LINE || to == NO_LINE || from == to
        ? "line " + Math.max(from, to)
        : "lines " + from + " to " + to;
  }

  /** For messages, the lines of two transactions, if they were read from a file. */
  String where(int one, int other) {
    int first = lineOf(one);
    int second = lineOf(other);
    return first == NO_LINE || second == NO_LINE
        ? ""
        : first == second
            ? "line " + first + ": "
            : "lines " + Math.min(first, second) + " and " + Math.max(first, second) + ": ";
  }

  private int lineOf(int t) {
    int answer = columns.lines.get(2 * t + 1);
    return answer == NO_LINE ? columns.lines.get(2 * t) : answer;
  }

  /** The place at which a life ended; {@link #NEVER} for the last one. */
  long endOf(int life) {
    return life < columns.ends.size() ? columns.ends.get(life).place : NEVER;
  }

  /** Whether a life ended when the store was closed in order. */
  boolean endedInOrder(int life) {
    return life < columns.ends.size() && columns.ends.get(life).inOrder;
  }

  /** The last place of any event. */
  long lastPlace() {
    long last = columns.ends.isEmpty() ? 0 : columns.ends.getLast().place;
    for (int t = 0; t < size(); t++) {
      last = Math.max(last, completed(t) == NEVER ? invoked(t) : completed(t));
    }
    return last;
  }

  /** Replaces the accesses of a transaction. */
  @FunctionalInterface
  interface Rewriting {
    void add(int t, Accesses to);
  }

  /** The same transactions with other accesses. */
  History rewritten(Rewriting rewriting) {
    return new Builder(this, rewriting).build();
  }

  /**
   * Returns the history as if the process had died or the power had failed at a place. If a
   * transaction had requested its commit by then and was not answered, its outcome is unknown.
   *
   * @param place the place of the crash
   * @return a history whose last life has just begun
   */
  public History cutAt(long place) {
    return cutBetween(place, place);
  }

  /**
   * Returns the history as a copy of the store must show it. The copy was made between two places.
   * It has each transaction that was acknowledged before the first place, and a prefix of the later
   * ones. So a transaction acknowledged as durable behind the first place counts as lazy. The first
   * place must be in the last life that began before the second place, or behind all transactions
   * of the life before.
   *
   * @param least the place behind which a transaction may be missing
   * @param place the place behind which nothing is there
   * @return a history whose last life has just begun
   */
  public History cutBetween(long least, long place) {
    Builder cut = new Builder();
    cut.takeNames(this);
    int life = 0;
    while (life < columns.ends.size() && columns.ends.get(life).place < place) {
      End end = columns.ends.get(life++);
      cut.ends.add(new End(end.place, end.inOrder && end.place < least));
    }
    for (Flush flush : columns.flushes) {
      if (flush.done < least) {
        cut.flushes.add(flush);
      }
    }
    for (int t = 0; t < size(); t++) {
      if (invoked(t) < place) {
        boolean ended = completed(t) < place;
        TransactionOutcome said = columns.outcomes.get(t);
        TransactionOutcome outcome =
            ended
                ? completed(t) >= least && said == TransactionOutcome.DURABLE
                    ? TransactionOutcome.LAZY
                    : said
                : asked(t) < place ? TransactionOutcome.UNKNOWN : TransactionOutcome.ABORTED;
        cut.begin(
            process(t),
            life(t),
            invoked(t),
            asked(t) < place ? asked(t) : NEVER,
            ended ? completed(t) : place,
            outcome);
        cut.lines(columns.lines.get(2 * t), ended ? columns.lines.get(2 * t + 1) : NO_LINE);
        cut.accesses.addAll(accesses(), firstAccess(t), firstAccess(t + 1));
        cut.endAccesses();
      }
    }
    cut.ends.add(new End(place, /* inOrder= */ false));
    return cut.build();
  }

  /**
   * Builds a history. Behind {@link #build} it cannot be changed.
   *
   * <p>Threads: one.
   */
  public static final class Builder {

    private final IntList processes = new IntList();
    private final IntList lives = new IntList();
    private final List<TransactionOutcome> outcomes = new ArrayList<>();
    private final IntList firsts = new IntList();
    private final Accesses accesses = new Accesses();
    private final List<End> ends = new ArrayList<>();
    private final List<Flush> flushes = new ArrayList<>();
    private final Map<Integer, String> keyNames = new HashMap<>();

    /** For each key with a name, its text in a file. */
    private final Map<Integer, String> keyTexts = new HashMap<>();

    private final Map<String, Integer> keyOfText = new HashMap<>();

    /** For each transaction: the line of its invocation and that of its answer. */
    private final IntList lines = new IntList();

    private boolean built;

    /** For each transaction: invoked, asked, completed. */
    private long[] places = new long[48];

    /** Creates an empty builder. */
    public Builder() {
      firsts.add(0);
    }

    /** Creates a builder with the content of a history. */
    Builder(History history) {
      this(
          history,
          (t, to) ->
              to.addAll(history.accesses(), history.firstAccess(t), history.firstAccess(t + 1)));
    }

    private Builder(History history, Rewriting rewriting) {
      this();
      ends.addAll(history.columns.ends);
      flushes.addAll(history.columns.flushes);
      takeNames(history);
      for (int t = 0; t < history.size(); t++) {
        begin(
            history.process(t),
            history.life(t),
            history.invoked(t),
            history.asked(t),
            history.completed(t),
            history.columns.outcomes.get(t));
        lines(history.columns.lines.get(2 * t), history.columns.lines.get(2 * t + 1));
        rewriting.add(t, accesses);
        endAccesses();
      }
    }

    private void takeNames(History history) {
      keyNames.putAll(history.columns.keyNames);
      keyTexts.putAll(history.columns.keyTexts);
      keyOfText.putAll(history.columns.keyOfText);
    }

    /** A builder with the same content. */
    Builder copy() {
      return new Builder(new History(this));
    }

    private void demandNotBuilt() {
      if (built) {
        throw new IllegalStateException("the history is built; use a new builder for another one");
      }
    }

    int size() {
      return processes.size();
    }

    int life() {
      return ends.size();
    }

    /**
     * Adds a transaction of the present life. When it requested its commit is not known: for {@link
     * History#cutAt} it may have done so as soon as it began. A {@link HistoryRecorder} knows.
     *
     * @param process the client
     * @param invoked the place at which it began
     * @param completed the place at which it was answered
     * @param outcome the answer
     * @param did its accesses
     * @return this
     */
    public Builder add(
        int process, long invoked, long completed, TransactionOutcome outcome, Access... did) {
      long asked = outcome == TransactionOutcome.ABORTED ? NEVER : invoked;
      begin(process, life(), invoked, asked, completed, outcome);
      Arrays.stream(did).forEach(accesses::add);
      endAccesses();
      return this;
    }

    void add(
        int process,
        long invoked,
        long asked,
        long completed,
        TransactionOutcome outcome,
        Accesses did) {
      begin(process, life(), invoked, asked, completed, outcome);
      accesses.addAll(did, 0, did.size());
      endAccesses();
    }

    private void begin(
        int process,
        int life,
        long invoked,
        long asked,
        long completed,
        TransactionOutcome outcome) {
      demandNotBuilt();
      if (invoked > completed) {
        throw new IllegalArgumentException(
            "a transaction of process %d was invoked at %d and completed at %d"
                .formatted(process, invoked, completed));
      }
      int t = processes.size();
      if (places.length < 3 * t + 3) {
        places = Arrays.copyOf(places, 2 * places.length);
      }
      places[3 * t] = invoked;
      places[3 * t + 1] = asked;
      places[3 * t + 2] = completed;
      processes.add(process);
      lives.add(life);
      outcomes.add(outcome);
      lines.add(NO_LINE);
      lines.add(NO_LINE);
    }

    /** The lines of the last transaction, in the file from which it was read. */
    void lines(int invoked, int completed) {
      lines.set(lines.size() - 2, invoked);
      lines.set(lines.size() - 1, completed);
    }

    private void endAccesses() {
      firsts.add(accesses.size());
    }

    /**
     * Gives a key a name, for reports and files.
     *
     * @param key the key
     * @param name any text; in a file it stands for the key, in quotes if it is no keyword and no
     *     symbol
     * @return this
     * @throws IllegalArgumentException if another key has this name
     */
    public Builder name(int key, String name) {
      demandNotBuilt();
      String text = EdnText.keyText(name);
      Integer other = keyOfText.get(text);
      if (other != null && other != key) {
        throw new IllegalArgumentException(
            "key %d cannot have the name %s, which is that of key %d: give each key its own"
                .formatted(key, name, other));
      }
      String former = keyTexts.put(key, text);
      if (former != null) {
        keyOfText.remove(former);
      }
      keyOfText.put(text, key);
      keyNames.put(key, name);
      return this;
    }

    /**
     * Adds a flush that has ended: transactions acknowledged lazily before it are durable.
     *
     * @param since the place at which it was requested
     * @param done the place at which it returned
     * @return this
     */
    public Builder flushed(long since, long done) {
      demandNotBuilt();
      flushes.add(new Flush(life(), since, done));
      return this;
    }

    /**
     * Ends the life with a crash.
     *
     * @param place after all events of the life
     * @return this
     */
    public Builder crashed(long place) {
      demandNotBuilt();
      ends.add(new End(place, /* inOrder= */ false));
      return this;
    }

    /**
     * Ends the life with an orderly close, which makes all transactions durable.
     *
     * @param place after all events of the life
     * @return this
     */
    public Builder closed(long place) {
      flushed(place, place);
      ends.add(new End(place, /* inOrder= */ true));
      return this;
    }

    /**
     * Returns the history. The builder cannot be changed afterwards.
     *
     * @return the history
     */
    public History build() {
      built = true;
      return new History(this);
    }
  }
}
