package org.revenantdb.languages

import java.io.ByteArrayInputStream
import java.io.IOException
import java.nio.file.Path
import java.time.Duration
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.revenantdb.engine.CatalogException
import org.revenantdb.engine.Database
import org.revenantdb.engine.DatabaseOptions
import org.revenantdb.engine.Durability
import org.revenantdb.engine.Isolation
import org.revenantdb.engine.RevenantException
import org.revenantdb.engine.SequenceOptions
import org.revenantdb.engine.TableOptions
import org.revenantdb.engine.TransactionOptions

/** The API in Kotlin, without type arguments and without functions of the user's own. */
class KotlinTest {
  @TempDir private lateinit var folder: Path

  private fun String.bytes() = toByteArray()

  private fun open() = Database.open(folder.resolve("db"), DatabaseOptions.defaults().withPoolBytes(4L shl 20))

  @Test
  fun `rows are written and read in blocks`() {
    open().use { db ->
      val stock = db.getOrCreateTable("stock")
      db.run { tx -> tx.put(stock, "apple".bytes(), "12".bytes()) }
      db.run(TransactionOptions.lazy().withName("more")) { tx -> tx.put(stock, "pear".bytes(), "3".bytes()) }
      val apples: String? = db.read { tx -> tx.get(stock, "apple".bytes())?.decodeToString() }
      assertEquals("12", apples)
      assertNull(db.read { tx -> tx.get(stock, "plum".bytes()) })
      val count = db.call { tx -> tx.count(stock, null, null) }
      assertEquals(2L, count)
      val deleted = db.call(TransactionOptions.durable()) { tx -> tx.delete(stock, "pear".bytes()) }
      assertTrue(deleted)
    }
  }

  @Test
  fun `a block may throw what it wants`() {
    open().use { db ->
      val files = db.getOrCreateTable("files")
      db.run { tx -> tx.put(files, "large".bytes(), ByteArrayInputStream(ByteArray(100_000) { 7 })) }
      assertThrows(IOException::class.java) { db.run { throw IOException("mine") } }
      val size = db.read { tx -> tx.open(files, "large".bytes())?.use { it.readAllBytes().size } }
      assertEquals(100_000, size)
    }
  }

  @Test
  fun `cursors, ranges and savepoints`() {
    open().use { db ->
      val events = db.getOrCreateTable("events", TableOptions.hashPartitioned(2))
      db.begin().use { tx ->
        for (i in 1..9) tx.put(events, "e$i".bytes(), "v$i".bytes())
        val savepoint = tx.savepoint()
        assertEquals(9, tx.deleteRange(events, null, null))
        tx.rollbackTo(savepoint)
        tx.release(savepoint)
        tx.commit()
        assertTrue(tx.whenDurable().toCompletableFuture().isDone)
      }
      val keys = db.read { tx ->
        buildList {
          tx.scanDescending(events, "e3".bytes(), "e7".bytes()).use { cursor ->
            while (cursor.next()) add(cursor.key().decodeToString() + cursor.value().decodeToString())
          }
        }
      }
      assertEquals(listOf("e6v6", "e5v5", "e4v4", "e3v3"), keys)
    }
  }

  @Test
  fun `sequences, schema, bulk loads and reports`() {
    open().use { db ->
      val ids = db.createSequence("ids", SequenceOptions.defaults().withStart(10))
      assertEquals(ids, db.sequence("ids"))
      assertEquals(db.createTable("plain"), db.table("plain"))
      val missing = assertThrows(CatalogException::class.java) { db.table("none") }
      assertEquals(CatalogException.Reason.MISSING, missing.reason())
      ids.advanceTo(5)
      assertEquals(15L, ids.next())
      assertEquals(16L, ids.next(Durability.LAZY))
      assertEquals(listOf("ids"), db.sequenceNames())
      assertNull(db.findTable("none"))
      val created = db.call { tx -> tx.createTable("created") }
      db.bulkLoad(created).use { load ->
        for (i in 10..99) load.add("$i".bytes(), byteArrayOf(1))
        load.finish()
      }
      assertTrue(db.dropTable("created"))
      assertFalse(db.dropTable("created"))
      assertTrue(db.check().isSound)
      assertTrue(db.recoveryReport().created())
      assertTrue(db.statistics().toString().isNotEmpty())
      assertTrue(db.waitStatistics().toString().isNotEmpty())
    }
  }

  @Test
  fun `options and failures`() {
    val serializable =
        TransactionOptions.durable()
            .withIsolation(Isolation.SERIALIZABLE)
            .withLockTimeout(Duration.ofSeconds(1))
            .withRetryTimeout(Duration.ofSeconds(9))
    val db = open()
    val accounts = db.getOrCreateTable("accounts")
    db.run(serializable) { tx ->
      assertNull(tx.lockForUpdate(accounts, "a".bytes()))
      tx.put(accounts, "a".bytes(), ByteArray(8))
    }
    assertArrayEquals(ByteArray(8), db.read { tx -> tx.get(accounts, "a".bytes()) })
    db.close()
    assertTrue(db.isClosed)
    assertThrows(RevenantException::class.java) { db.run { tx -> tx.delete(accounts, "a".bytes()) } }
  }
}
