package org.revenantdb.suite.examples;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * A queue of debits that are booked lazily, and an outside world in which actions depend on them. A
 * client that acts outside reads durably. So the world never contains an effect whose cause the
 * bank has lost, although no debit ever waits for the disk.
 *
 * <p>The bank is one database, the world another: letters with a balance, and receipts for debits
 * that are no longer in the queue (the absence of a row is an answer, too). A crash hits both at
 * once.
 *
 * <p>Source: queue processing of "Lazy commit", §2.2 and §7.2: 200 accounts, 80 of 100 debits on a
 * fifth of them.
 */
class QueueSubject implements CrashSubject<QueueSubject.Books> {

  private static final int ACCOUNTS = 200;
  private static final int FIRST_BALANCE = 10_000;
  private static final int NEW_DEBITS = 100;
  private static final int STEPS = 160;

  /** How clients read that act outside. */
  private final TransactionOptions reading;

  QueueSubject(TransactionOptions reading) {
    this.reading = reading;
  }

  @Override
  public Books open(Path dir) {
    return Books.open(dir);
  }

  @Override
  public void work(Books books, Promises promises) {
    books.enqueue(NEW_DEBITS);
    RandomGenerator random = promises.random();
    Thread another = // its reads and forces come in between
        Thread.ofPlatform()
            .start(() -> {
              RandomGenerator own = promises.random();
              for (int i = 0; i < STEPS / 8; i++) {
                sendLetter(books, promises, account(own.nextInt()), "b");
              }
            });
    for (int step = 0; step < STEPS; step++) {
      switch (random.nextInt(8)) {
        case 0 -> sendLetter(books, promises, account(random.nextInt()), "a");
        case 1 -> sendLetterAfterCommit(books, promises, account(random.nextInt()));
        case 2 -> giveReceipt(books, promises, random);
        default -> books.bookOne();
      }
    }
    await(another);
  }

  /** Acts as soon as it has its answer. */
  private void sendLetter(Books books, Promises promises, int account, String who) {
    try (Transaction tx = books.bank.begin(reading)) {
      act(books, promises, "letter " + who, account, tx.get(books.accounts, number(account)));
    }
  }

  /**
   * Requests that its reads do not wait, but its end does, and acts when its transaction has ended.
   */
  private void sendLetterAfterCommit(Books books, Promises promises, int account) {
    byte[] row;
    try (Transaction tx = books.bank.begin(reading.withDeferReadWaitsToCommit(true))) {
      row = tx.get(books.accounts, number(account));
      tx.commit();
    }
    act(books, promises, "letter a", account, row);
  }

  /** Acts because a row no longer exists. */
  private void giveReceipt(Books books, Promises promises, RandomGenerator random) {
    int debit = books.lastBooked() - random.nextInt(3);
    try (Transaction tx = books.bank.begin(reading)) {
      if (debit >= 0 && !tx.exists(books.queue, number(debit))) {
        act(books, promises, "receipt", debit, number(debit));
      }
    }
  }

  /** An action in the outside world, which is final. No two effects are alike. */
  private static void act(
      Books books, Promises promises, String kind, int number, byte @Nullable [] because) {
    String key = kind + " " + number;
    if (because == null) {
      throw new IllegalStateException("nothing to tell in a " + key);
    }
    byte[] effect =
        ByteBuffer.allocate(because.length + 2 * Long.BYTES)
            .put(because)
            .putLong(promises.seed())
            .putLong(books.serial.getAndIncrement())
            .array();
    promises.attempt(key, text(effect));
    books.world.run(tx -> tx.put(books.effects, key.getBytes(StandardCharsets.US_ASCII), effect));
    promises.durable(key, text(effect));
  }

  private static String text(byte[] row) {
    return HexFormat.of().formatHex(row);
  }

  @Override
  public void check(Books books, Recovered recovered) {
    int booked;
    try (Transaction tx = books.bank.begin()) {
      booked = books.booked(tx);
      Map<Integer, Account> right = accountsAfter(booked);
      for (int account = 0; account < ACCOUNTS; account++) {
        Account found = Account.of(tx.get(books.accounts, number(account)));
        Account expected = right.get(account);
        recovered.demand(
            found.equals(expected),
            "account %d is %s, and should be %s after %d debits"
                .formatted(account, found, expected, booked));
      }
    }
    Map<String, String> effects = new HashMap<>();
    try (Transaction tx = books.world.begin();
        Cursor cursor = tx.scan(books.effects, null, null)) {
      while (cursor.next()) {
        String key = new String(cursor.key(), StandardCharsets.US_ASCII);
        effects.put(key, text(cursor.value()));
        int number = Integer.parseInt(key.substring(key.lastIndexOf(' ') + 1));
        recovered.demand(
            key.startsWith("receipt")
                ? number < booked
                : isHistory(number, Account.of(cursor.value()), booked),
            "the world has " + key + ", whose cause the bank has lost: it has booked " + booked);
      }
    }
    recovered.verifyAll(effects);
  }

  /** Whether an account had this balance after one of the debits that the bank has. */
  private static boolean isHistory(int account, Account told, int booked) {
    Account then = new Account(FIRST_BALANCE, 0);
    for (int debit = 0; debit < booked && !then.equals(told); debit++) {
      then = account(debit) == account ? then.less(amount(debit)) : then;
    }
    return then.equals(told);
  }

  private static Map<Integer, Account> accountsAfter(int booked) {
    Map<Integer, Account> accounts = new HashMap<>();
    for (int account = 0; account < ACCOUNTS; account++) {
      accounts.put(account, new Account(FIRST_BALANCE, 0));
    }
    for (int debit = 0; debit < booked; debit++) {
      int amount = amount(debit);
      accounts.computeIfPresent(account(debit), (number, account) -> account.less(amount));
    }
    return accounts;
  }

  /** The target of debits: 80 of 100 go to a fifth of the accounts. */
  private static int account(int debit) {
    int hash = hash(debit);
    int hot = ACCOUNTS / 5;
    return hash % 10 < 8 ? hash / 10 % hot : hot + hash / 10 % (ACCOUNTS - hot);
  }

  private static int amount(int debit) {
    return 1 + hash(~debit) % 50;
  }

  private static int hash(int number) {
    int mixed = (number + 1) * 0x9E3779B9;
    return (mixed ^ (mixed >>> 15)) * 0x85EBCA6B >>> 1;
  }

  private static byte[] number(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }

  private static void await(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A row of the accounts. */
  private record Account(int balance, int debits) {

    static Account of(byte @Nullable [] row) {
      if (row == null) {
        return new Account(0, -1);
      }
      ByteBuffer bytes = ByteBuffer.wrap(row);
      return new Account(bytes.getInt(), bytes.getInt());
    }

    byte[] row() {
      return ByteBuffer.allocate(2 * Integer.BYTES).putInt(balance).putInt(debits).array();
    }

    Account less(int amount) {
      return new Account(balance - amount, debits + 1);
    }
  }

  /** The bank and the world. */
  record Books(
      Database bank,
      Database world,
      Table accounts,
      Table queue,
      Table ends,
      Table effects,
      AtomicLong serial)
      implements AutoCloseable {

    static Books open(Path dir) {
      Database bank = Database.open(dir.resolve("bank"), BulkLoadTest.Options.small());
      Database world = Database.open(dir.resolve("world"), BulkLoadTest.Options.small());
      Table accounts = bank.getOrCreateTable("accounts");
      bank.run(tx -> {
        if (!tx.exists(accounts, number(0))) {
          for (int account = 0; account < ACCOUNTS; account++) {
            tx.put(accounts, number(account), new Account(FIRST_BALANCE, 0).row());
          }
        }
      });
      Table effects = world.getOrCreateTable("effects");
      return new Books(
          bank,
          world,
          accounts,
          bank.getOrCreateTable("queue"),
          bank.getOrCreateTable("ends"),
          effects,
          new AtomicLong());
    }

    /**
     * Adds new debits behind the existing ones, durably, because their senders get a confirmation.
     */
    void enqueue(int count) {
      bank.run(tx -> {
        byte[] end = tx.get(ends, number(0));
        int next = end == null ? 0 : ByteBuffer.wrap(end).getInt();
        for (int debit = next; debit < next + count; debit++) {
          tx.put(queue, number(debit), number(amount(debit)));
        }
        tx.put(ends, number(0), number(next + count));
      });
    }

    /** The number of debits taken from the queue, which is the number of the next one. */
    int booked(Transaction tx) {
      try (Cursor cursor = tx.scan(queue, null, null)) {
        if (cursor.next()) {
          return ByteBuffer.wrap(cursor.key()).getInt();
        }
      }
      byte[] end = tx.get(ends, number(0));
      return end == null ? 0 : ByteBuffer.wrap(end).getInt();
    }

    /** An estimate on which nothing depends. */
    int lastBooked() {
      try (Transaction tx = bank.begin(TransactionOptions.lazy())) {
        return booked(tx) - 1;
      }
    }

    @Override
    public void close() {
      bank.close();
      world.close();
    }

    /** Takes the first debit from the queue and books it, in one lazy transaction. */
    void bookOne() {
      bank.run(
          TransactionOptions.lazy(),
          tx -> {
            int debit = booked(tx);
            byte[] amount = tx.get(queue, number(debit));
            if (amount != null) {
              byte[] account = number(QueueSubject.account(debit));
              Account before = Account.of(tx.get(accounts, account));
              tx.delete(queue, number(debit));
              tx.put(accounts, account, before.less(ByteBuffer.wrap(amount).getInt()).row());
            }
          });
    }
  }
}
