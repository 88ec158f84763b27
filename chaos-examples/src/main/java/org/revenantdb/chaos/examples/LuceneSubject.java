package org.revenantdb.chaos.examples;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.FSDirectory;
import org.jspecify.annotations.Nullable;

/**
 * Lucene with one writer. {@link IndexWriter}, {@code commit()}: "syncs all referenced index files,
 * such that a reader will see the changes and the index updates will survive an OS or machine crash
 * or power loss".
 */
final class LuceneSubject extends PairSubject<IndexWriter> {
  @Override
  public IndexWriter open(Path dir) throws IOException {
    return new IndexWriter(FSDirectory.open(dir), new IndexWriterConfig());
  }

  @Override
  void commit(IndexWriter store, SortedMap<String, String> changes) throws IOException {
    for (Map.Entry<String, String> change : changes.entrySet()) {
      Document document = new Document();
      document.add(new StringField("key", change.getKey(), Field.Store.YES));
      document.add(new StoredField("value", change.getValue()));
      store.updateDocument(new Term("key", change.getKey()), document);
    }
    store.commit();
  }

  @Override
  @Nullable String get(IndexWriter store, String key) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(store)) {
      IndexSearcher searcher = new IndexSearcher(reader);
      TopDocs found = searcher.search(new TermQuery(new Term("key", key)), 2);
      return found.scoreDocs.length == 0
          ? null
          : searcher.storedFields().document(found.scoreDocs[0].doc).get("value");
    }
  }

  @Override
  public void close(IndexWriter store) throws IOException {
    store.close();
    store.getDirectory().close();
  }
}
