package org.revenantdb.suite.copies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.history.IsolationLevel;

/**
 * Copies of databases whose machines are killed or lose power; under {@code -Plong} 2,000 rounds.
 * {@code -Drevenant.copies.rounds} and {@code -Drevenant.copies.seed} set other values. Then those
 * that do something wrong, which must be found.
 */
class CopiesTest {
  private static final int ROUNDS =
      Integer.getInteger(
          "revenant.copies.rounds", Boolean.getBoolean("revenant.long") ? 2_000 : 32);

  private final long seed = Long.getLong("revenant.copies.seed", Seeds.fresh());

  private static CopiesOptions options(long seed, int rounds, CopyKind kind) {
    return new CopiesOptions(seed, rounds, CopiesOptions.USUAL, Set.of(kind));
  }

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  void copies_survive_crashes_of_either_machine(CopyKind kind) {
    System.out.println("CopiesTest -Drevenant.copies.seed=" + seed);
    int rounds = Math.max(1, ROUNDS / CopyKind.values().length);
    CopiesRun run = new CopiesRun(options(seed, rounds, kind));
    run.run(_ -> {});
    System.out.println(run.table());
    assertEquals(List.of(), run.failures());
    assertEquals(rounds, run.rounds());
  }

  @Test
  void all_kinds_are_drawn() {
    CopiesRun run = new CopiesRun(new CopiesOptions(1, 12, 1, EnumSet.allOf(CopyKind.class)));
    run.run(_ -> {});
    assertEquals(List.of(), run.failures());
    for (CopyKind kind : CopyKind.values()) {
      assertTrue(
          run.json()
              .toString()
              .contains("\"" + kind.name().toLowerCase(Locale.ROOT) + "_rounds\""));
    }
  }

  // -------------------------------------------------------------------------------- the teeth
  // The seed does not determine how the sessions meet. So a broken twin has many recordings, of
  // which a few usually suffice.

  private static final int MOST_RECORDINGS = 200;

  private void found(CopyKind kind, CopiesRun.Making broken, String as) {
    List<String> others = List.of();
    for (int i = 0; i < MOST_RECORDINGS; i++) {
      CopiesRun run = new CopiesRun(options(seed + i, CopiesOptions.USUAL, kind), broken);
      run.run(_ -> {});
      if (run.failures().stream().anyMatch(failure -> failure.contains(as))) {
        return;
      }
      others = run.failures().isEmpty() ? others : run.failures();
    }
    fail(
        "the broken twin of %s was not found as \"%s\" in %d recordings from seed %d; last failures: %s"
            .formatted(kind, as, MOST_RECORDINGS, seed, others));
  }

  @Test
  void a_chain_without_its_last_increment_is_found() {
    found(
        CopyKind.BACKUP,
        (kind, machines, level, drawn, random) ->
            new BackupLives(machines, level, drawn, random) {
              @Override
              Database made(Crashed crashed, List<String> chain) {
                return super.made(
                    crashed, chain.size() > 1 ? chain.subList(0, chain.size() - 1) : chain);
              }
            },
        "LOST_WRITE");
  }

  private static final class Earlier extends RestoreLives {
    Earlier(Machines machines, IsolationLevel level, long seed, RandomGenerator random) {
      super(machines, level, seed, random);
    }

    @Override
    Database restored(Crashed crashed, RestoreRequest moment) {
      return super.restored(
          crashed,
          moment.kind() == RestoreRequest.Kind.LSN
              ? RestoreRequest.atLsn(moment.value() - 2_000)
              : moment);
    }
  }

  @Test
  void a_restore_to_an_earlier_moment_is_found() {
    found(
        CopyKind.RESTORE,
        (kind, machines, level, drawn, random) -> new Earlier(machines, level, drawn, random),
        "LOST_WRITE");
  }

  private static final class Later extends RestoreLives {
    Later(Machines machines, IsolationLevel level, long seed, RandomGenerator random) {
      super(machines, level, seed, random);
    }

    @Override
    Database restored(Crashed crashed, RestoreRequest moment) {
      return super.restored(crashed, RestoreRequest.latest());
    }
  }

  @Test
  void a_restore_to_a_later_moment_is_found() {
    found(
        CopyKind.RESTORE,
        (kind, machines, level, drawn, random) -> new Later(machines, level, drawn, random),
        "restored to LSN");
  }

  @Test
  void a_former_writer_that_is_not_kept_out_is_found() {
    found(
        CopyKind.PROMOTE,
        (kind, machines, level, drawn, random) ->
            new PromoteLives(machines, level, drawn, random) {
              @Override
              Database promote(Follower follower, DatabaseOptions options) {
                return follower.promoteWithoutFence(options);
              }
            },
        "former writer");
  }

  @Test
  void a_follower_that_shows_an_old_snapshot_is_found() {
    found(
        CopyKind.FOLLOW,
        (kind, machines, level, drawn, random) ->
            new FollowLives(machines, level, drawn, random) {
              @Override
              void refresh(Follower of) {}
            },
        "beside its copies");
  }
}
