package org.revenantdb.engine.testing;

import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.page.Edits;

/**
 * The protocols of transactions and of the cleaner, each as a few steps: of the small transactions
 * of {@link Samples#SMALL}, which put up to four rows back, and of larger ones.
 */
public enum ProtocolScript implements CrashScript {
  /** Differences in rows, values in full, deletes, inserts again, beside an older snapshot. */
  ROW_VERSIONS {
    @Override
    public void run(Scene scene) {
      try (Transaction reader = scene.begin()) {
        scene.point("updates with a difference");
        Scene.Session first = scene.session();
        for (int i = 0; i < 6; i++) {
          first.put(i, edited(scene, i));
        }
        first.delete(6).delete(7).put(40, value(40, 100)).commit();
        scene.point("updates in full, over versions that a snapshot needs");
        Scene.Session second = scene.session();
        for (int i = 0; i < 8; i++) {
          second.put(i, value(100 + i, 150 + 40 * i));
        }
        second.delete(40).put(8, edited(scene, 8)).put(8, value(108, 5_000)).commit();
        scene.point("a pass beside a snapshot");
        scene.pass();
        reader.exists(scene.table("t"), Scene.key(7));
      }
      scene.point("a pass that drops versions");
      scene.pass();
    }
  },
  /** Versions of aborted transactions are overwritten, aborted again, committed (Figure 6). */
  FIGURE_6 {
    @Override
    public void run(Scene scene) {
      scene.point("a first one aborts");
      write(scene, 200).rollBack();
      scene.point("a second one writes over its rows, and aborts");
      write(scene, 300).rollBack();
      scene.point("a third one commits");
      Scene.Session third = scene.session();
      third.put(0, value(400, 200)).put(1, value(401, 3_500)).put(2, value(402, 9_000));
      third.put(13, value(404, 60)).delete(3).delete(4).delete(14).put(5, edited(scene, 5));
      third.put(30, value(403, 30)).commit();
      scene.point("a pass that forgets the first two");
      scene.pass();
      scene.point("a fourth one aborts");
      write(scene, 500).rollBack();
      scene.point("a fifth one, large over large, and none ends it");
      scene
          .session()
          .put(1, value(501, 2_500))
          .put(2, value(502, 20_000))
          .delete(13)
          .put(14, value(503, 10));
    }

    /** Rows in leaves and beside them, of each kind over each. */
    private Scene.Session write(Scene scene, int from) {
      Scene.Session session = scene.session();
      for (int i = 0; i < 6; i++) {
        session.put(i, value(from + i, i % 2 == 0 ? 120 : 2_600));
      }
      session.put(13, value(from + 13, 700)).delete(14).put(30, value(from, 12_000));
      return session.put(31, value(from, 3_000));
    }
  },
  /** A long abort: splits meanwhile, rows that move, ABORT, reverts, FORGET. */
  LONG_ABORT {
    @Override
    public void run(Scene scene) {
      Scene.Session tx = scene.session();
      scene.point("rows that split leaves");
      for (int i = 0; i < 24; i++) {
        tx.put(i % 3 == 0 ? i : 50 + i, value(600 + i, 900));
      }
      scene.point("another one splits them again");
      Scene.Session other = scene.session();
      for (int i = 100; i < 112; i++) {
        other.put(i, value(i, 1_000));
      }
      other.commit();
      tx.delete(1).delete(2);
      scene.point("ABORT");
      tx.rollBack();
      scene.point("another one writes over a row before it is reverted");
      scene.session().put(0, value(700, 100)).put(50, value(701, 100)).commit();
      scene.point("passes");
      scene.pass();
      scene.pass();
    }
  },
  /** Short transactions put their rows back. */
  PUT_BACK {
    @Override
    public void run(Scene scene) {
      for (int round = 0; round < 2; round++) {
        int from = 800 + 10 * round;
        scene.point("four rows, put back");
        scene
            .session()
            .put(0, edited(scene, 0))
            .delete(1)
            .put(60, value(from, 100))
            .put(2, value(from + 1, 400))
            .rollBack();
        scene.point("large ones, put back");
        scene
            .session()
            .put(3, value(from + 2, 3_000))
            .put(13, value(from + 3, 20_000))
            .delete(14)
            .put(61, value(from + 4, 2_500))
            .rollBack();
        scene.point("a row that was inserted and deleted, put back");
        scene.session().put(62, value(from, 9)).delete(62).delete(4).rollBack();
        scene.session().put(0, value(from + 5, 210)).put(13, value(from + 6, 8_200)).commit();
        scene.point("a pass");
        scene.pass();
      }
    }
  },
  /** Savepoints, one in another: back, back again, and on. */
  SAVEPOINTS {
    @Override
    public void run(Scene scene) {
      for (boolean commits : new boolean[] {false, true}) {
        Scene.Session tx = scene.session();
        scene.point("before all savepoints");
        tx.put(0, edited(scene, 0)).put(13, value(900, 3_000)).delete(2);
        Savepoint outer = tx.savepoint();
        scene.point("behind the outer savepoint");
        tx.put(0, value(901, 500)).put(2, value(902, 50)).put(5, value(903, 2_600)).delete(14);
        Savepoint inner = tx.savepoint();
        scene.point("behind the inner savepoint");
        tx.put(13, value(904, 9_000)).put(5, value(905, 20)).delete(0).put(70, value(906, 30));
        scene.point("back to the inner savepoint");
        tx.goBackTo(inner);
        tx.put(6, value(907, 300)).delete(13);
        scene.point("another one writes a row that was given back");
        scene.session().put(70, value(908, 40)).commit();
        scene.point("back to the outer savepoint");
        tx.goBackTo(outer);
        tx.put(14, value(909, 2_500)).put(7, value(910, 10)).put(7, value(911, 900));
        scene.point("back to the outer savepoint again");
        tx.goBackTo(outer);
        tx.put(8, value(912, 77));
        scene.point(commits ? "commit" : "rollback");
        if (commits) {
          tx.commit();
        } else {
          tx.rollBack();
        }
        scene.pass();
      }
    }
  },
  /** Prepared ones: committed, rolled back, beside checkpoints and passes, and left. */
  PREPARED {
    @Override
    public void run(Scene scene) {
      scene.point("PREPARE of one that commits");
      Scene.Session first = scene.session();
      first.put(0, edited(scene, 0)).put(13, value(1_000, 3_000)).delete(2);
      Savepoint savepoint = first.savepoint();
      first.put(0, value(1_001, 600)).put(80, value(1_002, 60)).delete(13);
      first.goBackTo(savepoint);
      first.put(3, value(1_003, 30)).put(4, value(1_004, 9_000));
      first.prepare("commits");
      scene.point("PREPARE of one that rolls back");
      Scene.Session second = scene.session();
      for (int i = 5; i < 12; i++) {
        second.put(i, value(1_010 + i, i == 7 ? 12_000 : 200));
      }
      second.delete(14).prepare("goes");
      scene.point("a pass and a checkpoint with two prepared");
      scene.pass();
      scene.checkpoint();
      scene.point("COMMIT of a prepared one");
      scene.decide("commits", /* commits= */ true);
      scene.point("ABORT of a prepared one");
      scene.decide("goes", /* commits= */ false);
      scene.session().put(5, value(1_020, 100)).put(14, value(1_021, 2_600)).commit();
      scene.point("a pass");
      scene.pass();
      scene.point("PREPARE of one that is left");
      scene.session().put(1, value(1_030, 10)).put(90, value(1_031, 5_000)).prepare("commits too");
    }
  },
  /** The cleaner: reverts, drops versions, frees values of all sizes, merges leaves. */
  CLEANING {
    @Override
    public void setUp(Scene scene) {
      super.setUp(scene);
      Scene.Session wide = scene.session();
      for (int i = 200; i < 240; i++) {
        wide.put(i, value(i, 900));
      }
      wide.put(240, value(240, 100_000)).put(241, value(241, 8_000)).commit();
    }

    @Override
    public void run(Scene scene) {
      Scene.Session tx = scene.session();
      for (int i = 200; i < 240; i++) {
        if (i % 13 != 0) {
          tx.delete(i);
        }
      }
      tx.put(240, value(1_100, 30_000)).delete(241).put(13, value(1_101, 4_000)).commit();
      scene.point("a long one to be reverted");
      Scene.Session aborted = scene.session();
      for (int i = 0; i < 10; i++) {
        aborted.put(i, value(1_110 + i, i % 3 == 0 ? 6_000 : 100));
      }
      aborted.delete(240).rollBack();
      for (int pass = 0; pass < 3; pass++) {
        scene.point("pass " + pass);
        scene.pass();
        scene.checkpoint();
      }
    }
  },
  /** Checkpoints while transactions are in every state there is. */
  CHECKPOINTS {
    @Override
    public void run(Scene scene) {
      Scene.Session active = scene.session();
      active.put(0, value(1_200, 300)).put(20, value(1_201, 9_000));
      scene.session().put(1, value(1_202, 200)).put(21, value(1_203, 20)).prepare("commits");
      scene.session().put(2, value(1_204, 3_000)).commit();
      Scene.Session aborted = scene.session();
      for (int i = 3; i < 9; i++) {
        aborted.put(i, value(1_210 + i, 100 * i));
      }
      aborted.rollBack();
      scene.point("a checkpoint with one that is active, prepared, aborted");
      scene.checkpoint();
      active.put(22, value(1_220, 50));
      scene.decide("commits", /* commits= */ true);
      scene.point("a checkpoint behind an outcome");
      scene.checkpoint();
      scene.point("FORGET between two checkpoints");
      scene.pass();
      scene.checkpoint();
      active.commit();
      scene.point("a checkpoint with nobody active");
      scene.checkpoint();
    }
  };

  @Override
  public void setUp(Scene scene) {
    scene.create("t", TableOptions.defaults());
    Scene.Session tx = scene.session();
    for (int i = 0; i < 20; i++) {
      tx.put(i, value(i, i == 13 ? 20_000 : i == 14 ? 3_000 : 150 + i));
    }
    tx.commit();
    scene.pass();
  }

  private static byte[] value(int seed, int length) {
    return Samples.random(seed, length);
  }

  /** What a row has, with a small part of it changed. */
  private static byte[] edited(Scene scene, int key) {
    return Edits.edited(new java.util.Random(key), scene.contents().rows("t").get(key));
  }
}
