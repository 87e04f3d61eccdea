import java.net.InetSocketAddress;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;

/** Hive's metastore on loopback: its own main listens on every address. */
public class HiveMetastore {
  /** Port. */
  public static void main(String[] arguments) throws Exception {
    HiveConf conf = new HiveConf();
    HiveMetaStore.HMSHandler store = new HiveMetaStore.HMSHandler("floecat", conf, false);
    IHMSHandler handler = RetryingHMSHandler.getProxy(conf, store, false);
    TxnDbUtil.prepDb(conf); // the tables that locks are kept in, which nothing else makes
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
    TThreadPoolServer.Args settings = new TThreadPoolServer.Args(new TServerSocket(address));
    new TThreadPoolServer(settings.processor(new TSetIpAddressProcessor<>(handler))).serve();
  }
}
