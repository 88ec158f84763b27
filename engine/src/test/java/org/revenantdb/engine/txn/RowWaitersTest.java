package org.revenantdb.engine.txn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.recovery.restart.AbortedTransactions;
import org.revenantdb.recovery.testing.Await;

/** Waiting until a transaction has ended, by itself (protocols.md §32). */
class RowWaitersTest {
  private static final long LONG = TimeUnit.HOURS.toNanos(1);

  private final TransactionTable table = new TransactionTable(new AbortedTransactions(), 100);
  private final RowWaiters waiters = table.rowWaiters();
  private final List<CompletableFuture<Boolean>> sleeping = new ArrayList<>();

  RowWaitersTest() {
    waiters.slice(LONG); // a lost wake-up is to be noticed
  }

  private static Row row(String key) {
    return new Row(7, key.getBytes(StandardCharsets.UTF_8));
  }

  /** Sleeps; done when it was woken, with whether it had slept. */
  private CompletableFuture<Boolean> sleep(RowWaiter waiter) {
    return sleep(waiter, waiters.givenBack());
  }

  private CompletableFuture<Boolean> sleep(RowWaiter waiter, long seen) {
    int before = waiters.sleeping();
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            done.complete(waiters.sleep(waiter, seen, System.nanoTime() + LONG));
          } catch (Throwable failure) {
            done.completeExceptionally(failure);
          }
        });
    while (waiters.sleeping() == before && !done.isDone()) {
      Await.pause();
    }
    sleeping.add(done);
    return done;
  }

  private static boolean got(CompletableFuture<Boolean> done)
      throws InterruptedException, ExecutionException {
    return done.get();
  }

  @Test
  void one_of_each_row_is_woken_and_the_next_when_that_one_ends() throws Exception {
    long holder = table.enter();
    long[] own = {table.enter(), table.enter(), table.enter()};
    var a1 = sleep(new RowWaiter(own[0], holder, row("a")));
    var a2 = sleep(new RowWaiter(own[1], holder, row("a")));
    var b1 = sleep(new RowWaiter(own[2], holder, row("b")));

    table.committing(holder);
    table.committed(holder, 1_000);
    assertTrue(got(a1));
    assertTrue(got(b1));
    assertEquals(1, waiters.sleeping(), "the heir of the first");

    table.aborted(own[0]);
    assertTrue(got(a2));
  }

  @Test
  void one_that_has_ended_or_is_committing_is_not_slept_for() throws Exception {
    long ended = table.enter();
    table.aborted(ended);
    assertFalse(got(sleep(new RowWaiter(table.enter(), ended, row("a")))));
    long ending = table.enter();
    table.committing(ending);
    assertFalse(got(sleep(new RowWaiter(table.enter(), ending, row("a")))));
    table.committed(ending, 1_000);
  }

  @Test
  void a_waiter_for_a_prepared_transaction_is_woken_by_the_decision() throws Exception {
    long holder = table.enter();
    var waits = sleep(new RowWaiter(table.enter(), holder, row("a")));
    table.prepare(holder);
    table.prepared(holder);
    assertFalse(waits.isDone());
    table.committing(holder);
    table.committed(holder, 1_000);
    assertTrue(got(waits));
  }

  @Test
  void R14_a_row_that_is_given_back_wakes_and_who_has_looked_before_does_not_sleep()
      throws Exception {
    long holder = table.enter();
    long own = table.enter();
    long looked = waiters.givenBack();
    var waits = sleep(new RowWaiter(own, holder, row("a")));
    waiters.gaveBack(holder);
    assertTrue(got(waits));
    RowWaiter late = new RowWaiter(own, holder, row("a"));
    assertFalse(waiters.sleep(late, looked, System.nanoTime() + LONG));
  }

  /**
   * Statements of typed tables go back to a savepoint when they meet a conflict. With one count for
   * all, each attempt of a crowd kept all others awake: {@code run} gave up after 1,000 attempts in
   * a tenth of a second, while the holder of the row had no processor.
   */
  @Test
  void rows_that_other_transactions_give_back_do_not_keep_a_waiter_awake() throws Exception {
    long holder = table.enter();
    long other = table.enter();
    long looked = waiters.givenBack();
    waiters.gaveBack(other);
    var waits = sleep(new RowWaiter(table.enter(), holder, row("a")), looked);
    assertFalse(waits.isDone());
    table.aborted(holder);
    assertTrue(got(waits));
  }

  @Test
  void heirs_go_with_a_woken_one_that_has_to_wait_again() throws Exception {
    long holder = table.enter();
    long third = table.enter();
    long first = table.enter();
    var one = sleep(new RowWaiter(first, holder, row("a")));
    var two = sleep(new RowWaiter(table.enter(), holder, row("a")));
    table.aborted(holder);
    assertTrue(got(one));
    var again = sleep(new RowWaiter(first, third, row("a")));
    table.aborted(third);
    assertTrue(got(again));
    assertFalse(two.isDone());
    table.aborted(first);
    assertTrue(got(two));
  }

  @Test
  void heirs_can_be_taken_and_given_to_another_while_waiters_for_other_rows_are_woken()
      throws Exception {
    long holder = table.enter();
    long first = table.enter();
    long next = table.enter();
    var one = sleep(new RowWaiter(first, holder, row("a")));
    var two = sleep(new RowWaiter(table.enter(), holder, row("a")));
    table.aborted(holder);
    assertTrue(got(one));
    var stranger = sleep(new RowWaiter(table.enter(), first, row("b")));

    RowWaiters.@Nullable Inheritance heirs = waiters.take(first, row("a"));
    table.aborted(first);
    assertTrue(got(stranger));
    assertFalse(two.isDone());
    assertNotNull(heirs);
    waiters.give(heirs, next);
    table.aborted(next);
    assertTrue(got(two));
  }

  @Test
  void an_heir_can_be_woken_and_a_waiter_for_the_holder_of_its_row_cannot() throws Exception {
    long holder = table.enter();
    RowWaiter second = new RowWaiter(table.enter(), holder, row("a"));
    var one = sleep(new RowWaiter(table.enter(), holder, row("a")));
    var two = sleep(second);
    assertFalse(waiters.wakeHeir(second));
    table.aborted(holder);
    assertTrue(got(one));
    assertTrue(waiters.wakeHeir(second));
    assertTrue(got(two));
  }

  @Test
  void a_waiter_that_gives_up_is_not_woken_in_place_of_another() throws Exception {
    long holder = table.enter();
    RowWaiter gone = new RowWaiter(table.enter(), holder, row("a"));
    assertTrue(waiters.sleep(gone, waiters.givenBack(), System.nanoTime()));
    assertFalse(gone.isWoken());
    var waits = sleep(new RowWaiter(table.enter(), holder, row("a")));
    table.aborted(holder);
    assertTrue(got(waits));
  }

  @Test
  void a_close_wakes_all_heirs_too_and_no_transaction_sleeps_from_then_on() throws Exception {
    long holder = table.enter();
    for (int i = 0; i < 3; i++) {
      sleep(new RowWaiter(table.enter(), holder, row("a")));
    }
    table.aborted(holder);
    waiters.close();
    for (CompletableFuture<Boolean> each : sleeping) {
      assertTrue(got(each));
    }
    assertFalse(got(sleep(new RowWaiter(table.enter(), table.enter(), row("a")))));
  }
}
