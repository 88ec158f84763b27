package org.revenantdb.suite.demo;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import org.revenantdb.chaos.report.Progress;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * Compares a database with the files themselves, by SHA-256, in both directions: nothing missing,
 * nothing added.
 */
final class Contents {

  private final TreeMap<byte[], JdkFiles.Item> expected = new TreeMap<>(Arrays::compareUnsigned);

  /** The files that must be there, and no others. */
  Contents(List<JdkFiles.Item> items) {
    items.forEach(item -> expected.put(item.key(), item));
  }

  int rows() {
    return expected.size();
  }

  /** Scans the whole table; returns the first difference, or an empty string. */
  String firstDifference(Database db, String title) {
    Table table = db.table(ImporterMain.TABLE);
    MessageDigest sha = sha256();
    long n = 0;
    try (Progress progress = Progress.start(title, "files", rows());
        Transaction tx = db.begin();
        Cursor cursor = tx.scan(table, null, null)) {
      for (JdkFiles.Item item : expected.values()) {
        if (!cursor.next()) {
          return item.name() + " is missing, and everything after it";
        }
        if (!Arrays.equals(cursor.key(), item.key())) {
          return "%s was expected, but %s was found".formatted(item.name(), text(cursor.key()));
        }
        byte[] found = sha.digest(cursor.value());
        byte[] due = sha.digest(item.content());
        if (!Arrays.equals(found, due)) {
          return "%s has the SHA-256 %s instead of %s".formatted(item.name(), hex(found), hex(due));
        }
        progress.at(++n);
      }
      if (cursor.next()) {
        return text(cursor.key()) + " exists, but must not";
      }
    }
    return "";
  }

  /** Reads each file individually; returns the first one that exists, or an empty string. */
  static String firstVisible(Database db, List<JdkFiles.Item> items) {
    Table table = db.table(ImporterMain.TABLE);
    try (Transaction tx = db.begin()) {
      for (JdkFiles.Item item : items) {
        if (tx.get(table, item.key()) != null) {
          return item.name() + " of the big transaction can be read";
        }
      }
    }
    return "";
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static String text(byte[] key) {
    return new String(key, StandardCharsets.UTF_8);
  }

  private static String hex(byte[] hash) {
    return HexFormat.of().formatHex(hash);
  }
}
